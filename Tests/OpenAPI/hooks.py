"""What of the two APIs no schema can say, for the requests that schemathesis makes.

It is told the fixtures of fixtures.py in OPENAPI_FIXTURES. Requests that are meant to be wrong go as they are.
"""

import json
import os
import re
import urllib.parse
import zlib

import schemathesis
from schemathesis.generation.meta import TestPhase
from schemathesis.generation.modes import GenerationMode
from schemathesis.core.failures import AcceptedNegativeData

FIXTURES = json.loads(os.environ["OPENAPI_FIXTURES"])
# What is waited for at most, else a run would take hours.
WAIT = "20ms"


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    """A body of lines is text already."""
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.hook
def before_call(_context, case, _kwargs):
    if case.query and case.query.get("wait"):
        case.query["wait"] = short(case.query["wait"])
    if case.operation.definition.raw["operationId"] == "reset" and (case.query or {}).get("bundleID") in (None, "", FIXTURES["our app"]):
        # What is there is not to be forgotten.
        case.query = {**(case.query or {}), "bundleID": "com.example.reset"}
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE:
        return
    name_what_is_there(case)
    if case.query and "after" in case.query:
        # A cursor is opaque, and none is left over from another list.
        del case.query["after"]
    if case.query and "count" in case.query:
        case.query["wait"] = WAIT
    if isinstance(case.body, dict):
        case.body = fitting(case.body)
        agree(case.body)
        operation = case.operation.definition.raw["operationId"]
        if operation == "showActivity":
            begin(case.body)
        if operation == "recordOutcome" and case.path_parameters["id"] in FIXTURES["recordOutcome"]["id"]:
            # A push that has its outcome takes no other.
            case.body.update(disposition="applied", cause="reloaded")


def begin(body):
    """Says all that a new activity needs, and nothing that one that runs could contradict."""
    body.pop("device", None)
    body.update(user="alice", attributesType="Ride", attributes={}, alert={"title": "Ride", "body": "Soon"})


@schemathesis.hook
def filter_failure(_context, failure, case, _response):
    """A field that is null counts as absent, and is not wrong wherever it stands; nor is what is encoded in a path."""
    is_encoded = any("%2F" in str(value) for value in (case.path_parameters or {}).values())
    return not (isinstance(failure, AcceptedNegativeData) and (has_null(case.body) or is_encoded))


def has_null(value):
    """Whether null stands anywhere in it."""
    if isinstance(value, (dict, list)):
        return any(has_null(part) for part in (value.values() if isinstance(value, dict) else value))
    return value is None


def short(wait):
    """The wait, cut to `WAIT` where it is one."""
    units = ("ms", "s", "m", "h")
    return WAIT if isinstance(wait, str) and wait[:1].isdigit() and wait.endswith(units) and "-" not in wait else wait


def name_what_is_there(case):
    """Puts ids of things that are there in the place of most of those that were made up."""
    operation = case.operation.definition.raw["operationId"]
    for name, value in (case.path_parameters or {}).items():
        # A link says which thing is meant; the rest of a chain begins with something made up.
        if case.meta.phase.name is TestPhase.STATEFUL and name != "device":
            break
        choices = FIXTURES.get(operation, {}).get(name) or FIXTURES["any"].get(name)
        chance = zlib.crc32(repr((case.path_parameters, case.query)).encode())
        if choices and (chance % 4 != 0 or operation in ("updateApp", "patchApp")):  # that of the app whose items are placed stays as it is
            choice = choices[chance // 4 % len(choices)]
            # A channel's id may have a "/" in it, and nothing else that is not itself in a path.
            case.path_parameters[name] = urllib.parse.quote(choice, safe="+=") if name == "channelID" else choice
        elif isinstance(value, str):
            # Written as %2F, it would be part of a segment; it is made a segment's end.
            case.path_parameters[name] = value.replace("/", "A")
    if operation == "installApp" and isinstance(case.body, dict) and case.body.get("manifest"):
        # Not of the app whose widgets are placed.
        case.body["bundleID"] = FIXTURES["removeApp"]["bundleID"][0]
    if operation == "patchApp" and isinstance(case.body, dict):
        # A burst that was set before may be more than an allowance that comes without one.
        budgets = case.body.get("budgets")
        for budget in (budgets.values() if isinstance(budgets, dict) else ()):
            if isinstance(budget, dict) and budget.get("burst") is None:
                budget["burst"] = None
        # A schema is merged with that which was set before, and a keyword belongs to one type.
        schemas = case.body.get("schemas")
        for own in (schemas.values() if isinstance(schemas, dict) else ()):
            if isinstance(own, dict):
                own.update({name: {"type": "object"} for name, schema in own.items() if schema is not None})
    if isinstance(case.body, dict):
        # A content-state and attributes are objects, of a type with a name of Swift's: descriptions say so, and the schema of schemas does not.
        for holder in (case.body, case.body.get("manifest")):
            if isinstance(holder, dict):
                decode_from_objects(holder)
    if operation == "beginReload" and isinstance(case.body, dict):
        # Another key for each request, and one way to say which are meant.
        names = [name for name in ("kinds", "controls", "users", "devices") if case.body.get(name)]
        case.body["all"] = not names
        if case.headers and "idempotency-key" in case.headers:
            case.headers["idempotency-key"] = f"{zlib.crc32(repr(case.body).encode())}"
    if operation in ("placeWidget", "placeControl", "startActivity") and isinstance(case.body, dict):
        case.body["bundleID"] = FIXTURES["our app"]
    if operation == "advanceClock" and isinstance(case.body, dict):
        # Activities and registrations go by the clock: it is hardly moved.
        case.body = {"by": "5ms"}
    if operation == "setClock" and isinstance(case.body, dict):
        case.body = {"now": "2000-01-01T00:00:00Z"} if "now" in case.body else {"frozen": False}
    if operation == "setBudgets" and isinstance(case.body, dict):
        # The tokens have one budget, of which this may be left in any case.
        case.body = {"remaining": min(max(case.body["remaining"], -3), 2)}


def decode_from_objects(holder):
    """Has the schemas of activities that a body holds be those of objects."""
    for name in ("contentStates", "schemas"):
        if isinstance(holder.get(name), dict):
            holder[name] = {re.sub("[^A-Za-z_]", "_", key) or "_": value for key, value in holder[name].items()}
    if isinstance(holder.get("contentStates"), dict):
        holder["contentStates"] = {key: of_object(value) for key, value in holder["contentStates"].items()}
    schemas, activities = holder.get("schemas"), holder.get("activities")
    parts = [holder, *(schemas.values() if isinstance(schemas, dict) else ()), *(activities if isinstance(activities, list) else ())]
    for part in parts:
        for name in ("contentState", "attributes"):
            if isinstance(part, dict) and name in part:
                part[name] = of_object(part[name])


def of_object(schema):
    """The schema where an object may decode from it; else that of any object."""
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    is_other = kind not in (None, "object", ["object", "null"]) or kind is None and schema.keys() & {"items", "enum", "format", "prefixItems", "uniqueItems"}
    return {"type": "object"} if is_other else schema


def fitting(value):
    """The value with texts that are too long in bytes, which a schema cannot count, made short."""
    if isinstance(value, dict):
        return {name: fitting(part) for name, part in value.items()}
    if isinstance(value, list):
        return [fitting(part) for part in value]
    return value[:30] if isinstance(value, str) and len(value.encode(errors="replace")) > 128 and not value.isascii() else value


def agree(body):
    """Has fields agree that depend on each other, or on the deployment."""
    upstream = body.get("upstream")
    if isinstance(upstream, dict):
        body["upstream"] = {name: None if value is None else "device" for name, value in upstream.items()}
    elif upstream is not None:
        body["upstream"] = "device"
    for budget in [body.get("budget"), *(body.get("budgets") or {}).values()]:
        if isinstance(budget, dict) and budget.get("burst") is not None:
            budget["allowance"] = max(budget["burst"], budget.get("allowance") or 0)
    if body.get("contentStates"):
        # In these schemas a keyword belongs to one type; that is the device's to be asked about.
        body["contentStates"] = {name: {"type": "object"} for name in body["contentStates"]}
    hours = body.get("quietHours")
    if hours and hours["from"] == hours["to"]:
        hours["to"] = "03:21" if hours["from"] != "03:21" else "04:21"
    ids = set()
    for widget in body.get("widgets") or []:
        if widget.get("id") in ids:
            del widget["id"]
        ids |= {widget.get("id")} - {None}
    delay = body["then"].get("delayMilliseconds") if isinstance(body.get("then"), dict) else None
    if isinstance(delay, dict):
        low, high = ("from", "to") if "from" in delay else ("median", "p99")
        delay[low], delay[high] = sorted((delay[low], delay[high]))
        if low == "median" and delay[low] == delay[high]:
            delay[high] += 1
    if "attributesType" in body and "bundleID" in body:
        # By token or by channel.
        if body.get("channelID") is not None:
            body["pushType"] = "channel"
        elif body.get("pushType") == "channel":
            del body["pushType"]
