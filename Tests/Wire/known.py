"""Departures of the product that are known: the case's name, and why it is so. The run tells of each, and stays green.

A case that stands here and passes fails the run, so that the table never says more than is true.
"""

KNOWN: dict[str, str] = {
    "oversized[CONTINUATION]": "nghttp2 1.52 checks the size of every frame but CONTINUATION",
    "identifier_below_an_earlier_one": "nghttp2 ignores HEADERS on a stream that was left out, and takes it for a closed one",
    "one_stream_too_many": "nghttp2 ends the connection with PROTOCOL_ERROR once its own limit of streams is acknowledged",
    "earlier_setting_is_checked": "nghttp2 keeps only the last of several values of one setting, and checks that",
    "initial_window_overflows_a_stream": "nghttp2 resets the stream with FLOW_CONTROL_ERROR, and not the connection",
}
