"""Language models: calls, their cache and cost, and policies that act by them."""

from harness_core.models.client import ModelClient
from harness_core.models.session import ModelSession
from harness_core.models.settings import Endpoint, ModelSettings
from harness_core.models.spend import Spend, SpendLimit
from harness_core.models.values import Message, Reply, Request, Role, ToolCall

__all__ = [
    "Endpoint",
    "Message",
    "ModelClient",
    "ModelSession",
    "ModelSettings",
    "Reply",
    "Request",
    "Role",
    "Spend",
    "SpendLimit",
    "ToolCall",
]
