# The image of the operator: one virtual environment, made from uv.lock with all hashes checked, on a base that has Python and
# nothing else. How to build, verify and change it: docs/how-to/image.md.
#
# Both bases must have the same minor version of Python; the second one needs neither shell nor pip.
ARG BUILD_BASE=docker.io/library/python:3.13-slim-trixie@sha256:ffb752e139c0a19692a43af8d8523b274222dd68eebad5d583b45c2201c6e30a
ARG BASE=gcr.io/distroless/python3-debian13:nonroot@sha256:0e52dfee02b1aba142e77b004f6ea11210b79456b51f10d70e9bd631cbc21d98

# Everything is pure Python or a ready wheel, so any machine builds for any other: nothing runs under emulation.
FROM --platform=${BUILDPLATFORM} ${BUILD_BASE} AS build
WORKDIR /src

# A package index and an authority of your own. They are of this stage and do not reach the image.
ARG PIP_INDEX_URL
ARG UV_DEFAULT_INDEX
ARG SSL_CERT_FILE

COPY deploy/image/uv.txt deploy/image/
RUN python3 -m venv /uv \
    && /uv/bin/pip install --quiet --no-cache-dir --require-hashes --only-binary=:all: --requirement deploy/image/uv.txt

# Where Python is in BASE.
ARG PYTHON=/usr/bin/python3
ARG TARGETARCH
ENV UV_LINK_MODE=copy UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never
COPY LICENSE README.md pyproject.toml uv.lock ./
RUN set -eu; \
    case "${TARGETARCH:-$(uname -m)}" in \
      amd64|x86_64) platform=x86_64-manylinux_2_28 ;; \
      arm64|aarch64) platform=aarch64-manylinux_2_28 ;; \
      *) echo "TARGETARCH ${TARGETARCH:-$(uname -m)}: expected amd64 or arm64" >&2; exit 1 ;; \
    esac; \
    /uv/bin/uv venv --quiet --python "$(command -v python3)" /opt/gpucloud; \
    /uv/bin/uv export --quiet --frozen --no-dev --extra operator --extra sim --extra otel --no-emit-project --output-file /tmp/locked.txt; \
    /uv/bin/uv pip install --quiet --python /opt/gpucloud --python-platform "${platform}" --require-hashes --only-binary :all: \
      --no-deps --requirement /tmp/locked.txt; \
    /uv/bin/uv venv --quiet --python "$(command -v python3)" /build; \
    /uv/bin/uv export --quiet --frozen --only-group build --output-file /tmp/build.txt; \
    /uv/bin/uv pip install --quiet --python /build --require-hashes --only-binary :all: --no-deps --requirement /tmp/build.txt

COPY operator/gpucloud operator/gpucloud
# What is left is what runs: the command and the interpreter, which is that of BASE. Compiled by one process in a fixed order, the
# same files give the same bytes; they are used without a look at their times.
RUN set -eu; \
    VIRTUAL_ENV=/build /uv/bin/uv build --quiet --wheel --no-build-isolation --python /build/bin/python --out-dir /tmp/dist; \
    /uv/bin/uv pip install --quiet --python /opt/gpucloud --no-index --find-links /tmp/dist --no-deps gpucloud-operator; \
    find /opt/gpucloud -name uv_cache.json -delete; \
    sed -i '/uv_cache.json/d' /opt/gpucloud/lib/python3.*/site-packages/gpucloud_operator-*.dist-info/RECORD; \
    find /opt/gpucloud -maxdepth 1 -type f -delete; \
    find /opt/gpucloud/bin -mindepth 1 ! -name gpucloud -delete; \
    ln -s "${PYTHON}" /opt/gpucloud/bin/python; \
    printf 'home = %s\ninclude-system-site-packages = false\n' "${PYTHON%/*}" > /opt/gpucloud/pyvenv.cfg; \
    PYTHONHASHSEED=0 python3 -m compileall -q --invalidation-mode unchecked-hash /opt/gpucloud/lib; \
    mkdir -p /image/opt /image/usr/local/bin; \
    mv /opt/gpucloud /image/opt/gpucloud; \
    ln -s /opt/gpucloud/bin/gpucloud /image/usr/local/bin/gpucloud; \
    chmod -R u=rwX,go=rX /image

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=https://github.com/gpucloud-dev/gpucloud-operator
LABEL org.opencontainers.image.title="gpucloud-operator" \
      org.opencontainers.image.description="A Kubernetes operator for GPU clouds that never buys twice, never leaks, never destroys what is not its own." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# It writes nothing but what it says. A crash of an extension is told with its place.
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONFAULTHANDLER=1 PYTHONNOUSERSITE=1 PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1
COPY --from=build /image/ /
# A number, so that Kubernetes can see that it is not root; distroless and the chart use the same.
USER 65532:65532
# No HEALTHCHECK: Kubernetes ignores it and asks /healthz and /readyz; the base has nothing that could ask for Docker.
ENTRYPOINT ["gpucloud"]
