"""GpuOffers: from the cloud's answers to the objects that are to stand, and what to write to get there. Pure."""

from gpucloud.reconcile.gpuoffer.decide import CloudAnswer, ListedOffer, OfferFacts, OfferPlan, Owner, decide
from gpucloud.reconcile.gpuoffer.offered import offer_name, offered

__all__ = ["CloudAnswer", "ListedOffer", "OfferFacts", "OfferPlan", "Owner", "decide", "offer_name", "offered"]
