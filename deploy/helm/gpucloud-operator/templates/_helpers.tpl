{{- define "gpucloud.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* At most 50 characters, so that what is appended stays within 63. */}}
{{- define "gpucloud.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* What never changes about a component's pods: (dict "root" $ "component" "operator"). */}}
{{- define "gpucloud.selector" -}}
app.kubernetes.io/name: {{ include "gpucloud.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of an object. commonLabels come last and cannot change ours. */}}
{{- define "gpucloud.labels" -}}
{{- $own := include "gpucloud.selector" . | fromYaml }}
{{- $own = merge $own (dict
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_")
  "app.kubernetes.io/version" (.root.Chart.AppVersion | toString)
  "app.kubernetes.io/part-of" "gpucloud-operator"
  "app.kubernetes.io/managed-by" .root.Release.Service) }}
{{- merge $own .root.Values.commonLabels | toYaml }}
{{- end }}

{{- define "gpucloud.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gpucloud.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gpucloud.leaseName" -}}
{{- default (include "gpucloud.fullname" .) .Values.leaderElection.leaseName }}
{{- end }}

{{- define "gpucloud.simulator" -}}
{{- printf "%s-simulator" (include "gpucloud.fullname" .) }}
{{- end }}

{{- define "gpucloud.image" -}}
{{- $image := .Values.image }}
{{- $tag := default .Chart.AppVersion $image.tag }}
{{- if $image.digest }}
{{- printf "%s%s@%s" $image.repository (ternary (printf ":%s" $image.tag) "" (ne $image.tag "")) $image.digest }}
{{- else }}
{{- printf "%s:%s" $image.repository $tag }}
{{- end }}
{{- end }}

{{/* NAME=URL of each endpoint, the default one first: the operator takes the first where none is named. */}}
{{- define "gpucloud.endpoints" -}}
{{- if .Values.simulator.enabled -}}
simulator=http://{{ include "gpucloud.simulator" . }}.{{ .Release.Namespace }}.svc:8080
{{- else }}
{{- $first := default (keys .Values.endpoints | sortAlpha | first) .Values.defaultEndpoint }}
{{- $all := list (printf "%s=%s" $first (get .Values.endpoints $first)) }}
{{- range $name, $url := omit .Values.endpoints $first }}
{{- $all = append $all (printf "%s=%s" $name $url) }}
{{- end }}
{{- join "," $all }}
{{- end }}
{{- end }}

{{/* One setting as the operator reads it. Helm reads numbers as floats, and 1e+06 is no whole number to anybody. */}}
{{- define "gpucloud.setting" -}}
{{- if kindIs "slice" . }}
{{- join "," . }}
{{- else if and (kindIs "float64" .) (eq (floor .) .) }}
{{- int64 . }}
{{- else }}
{{- toString . }}
{{- end }}
{{- end }}

{{/* Where the operator's own account comes from. */}}
{{- define "gpucloud.credentialFiles" -}}
{{- if .Values.simulator.enabled }}
{{- dict "GPUCLOUD_API_KEY_FILE" "api-key" | toYaml }}
{{- else if not .Values.credentials.existingSecret }}
{{- dict | toYaml }}
{{- else if eq .Values.credentials.kind "ApiKey" }}
{{- dict "GPUCLOUD_API_KEY_FILE" .Values.credentials.apiKeyKey | toYaml }}
{{- else }}
{{- dict "GPUCLOUD_USERNAME_FILE" .Values.credentials.usernameKey "GPUCLOUD_PASSWORD_FILE" .Values.credentials.passwordKey | toYaml }}
{{- end }}
{{- end }}

{{- define "gpucloud.credentialSecret" -}}
{{- ternary (include "gpucloud.simulator" .) .Values.credentials.existingSecret .Values.simulator.enabled }}
{{- end }}

{{/* The environment that the operator and `gpucloud check` share. */}}
{{- define "gpucloud.cloudEnv" -}}
- name: GPUCLOUD_ENDPOINT
  value: {{ include "gpucloud.endpoints" . | quote }}
{{- range $variable, $file := include "gpucloud.credentialFiles" . | fromYaml }}
- name: {{ $variable }}
  value: /var/run/gpucloud/credentials/{{ $file }}
{{- end }}
{{- if or .Values.cloudCA.configMap .Values.cloudCA.secret }}
- name: GPUCLOUD_CA_FILE
  value: /var/run/gpucloud/ca/{{ .Values.cloudCA.key }}
{{- end }}
{{- with .Values.watchNamespaces }}
- name: GPUCLOUD_NAMESPACE
  value: {{ join "," . | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: GPUCLOUD_{{ $name | snakecase | upper }}
  value: {{ include "gpucloud.setting" $value | quote }}
{{- end }}
{{- end }}

{{- define "gpucloud.cloudMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if include "gpucloud.credentialSecret" . }}
- name: credentials
  mountPath: /var/run/gpucloud/credentials
  readOnly: true
{{- end }}
{{- if or .Values.cloudCA.configMap .Values.cloudCA.secret }}
- name: cloud-ca
  mountPath: /var/run/gpucloud/ca
  readOnly: true
{{- end }}
{{- end }}

{{- define "gpucloud.tmpVolume" -}}
- name: tmp
  emptyDir:
    sizeLimit: 16Mi
{{- end }}

{{- define "gpucloud.cloudVolumes" -}}
{{ include "gpucloud.tmpVolume" . }}
{{- with include "gpucloud.credentialSecret" . }}
- name: credentials
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
      {{- range $_, $file := include "gpucloud.credentialFiles" $ | fromYaml }}
      - key: {{ $file }}
        path: {{ $file }}
      {{- end }}
{{- end }}
{{- with .Values.cloudCA.configMap }}
- name: cloud-ca
  configMap:
    name: {{ . }}
    items: [{key: {{ $.Values.cloudCA.key }}, path: {{ $.Values.cloudCA.key }}}]
{{- end }}
{{- with .Values.cloudCA.secret }}
- name: cloud-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items: [{key: {{ $.Values.cloudCA.key }}, path: {{ $.Values.cloudCA.key }}}]
{{- end }}
{{- end }}

{{/* What every pod of the chart has. */}}
{{- define "gpucloud.podBasics" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every container of the chart has. */}}
{{- define "gpucloud.containerBasics" -}}
image: {{ include "gpucloud.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The namespaces in which Roles stand; one empty word for the whole cluster. */}}
{{- define "gpucloud.roleNamespaces" -}}
{{- toYaml (default (list "") .Values.watchNamespaces) }}
{{- end }}
