"""GpuOffer: the publisher, which writes them from the catalogue of each GpuCloudAccount."""

from gpucloud.engine.kinds.gpuoffer.publisher import OfferPublisher, PublisherDeps

__all__ = ["OfferPublisher", "PublisherDeps"]
