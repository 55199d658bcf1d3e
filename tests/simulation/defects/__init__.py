"""Defects, one at a time planted in the process of the history: the world alone must find each (``hunt.py``).

A world without violations says nothing about the world; that it finds what is wrong on purpose, does. Each defect is one
function, which replaces the nearest function of the product (``planting.py``); where a second safeguard would make it harmless,
both are replaced. Of those that others had in production ``make planted`` requires that the suite finds them, too.
"""

from simulation.defects.capacity import CAPACITY
from simulation.defects.features import FEATURES
from simulation.defects.hostile import HOSTILE
from simulation.defects.met import MET
from simulation.defects.offers import OFFERS
from simulation.defects.production_core import IN_DECISIONS
from simulation.defects.production_engine import IN_ENGINE

IN_PRODUCTION = dict(sorted((IN_DECISIONS | IN_ENGINE).items()))
DEFECTS = MET | FEATURES | CAPACITY | OFFERS | HOSTILE | IN_PRODUCTION

__all__ = ["DEFECTS", "IN_PRODUCTION"]
