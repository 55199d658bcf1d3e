"""GpuOffer: which offers an account has, and what to write to show them. Pure."""

from gpucloud.reconcile.gpuoffer.decide import CloudAnswer, ListedOffer, OfferFacts, OfferPlan, Owner, decide
from gpucloud.reconcile.gpuoffer.offered import offer_name, offered

__all__ = ["CloudAnswer", "ListedOffer", "OfferFacts", "OfferPlan", "Owner", "decide", "offer_name", "offered"]
