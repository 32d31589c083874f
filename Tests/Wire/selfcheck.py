"""The suite must be able to fail: some of its cases run against servers that are wrong on purpose. And what it makes must be right."""
import concurrent.futures
import dataclasses
import tempfile

import case
import certificate
import runner
import wrong_server

SECONDS = 1.5

# For each server, cases that it passes, so that what fails is not just everything, and cases that must be reported.
CHECKS = {
    wrong_server.lenient: (
        ["ping_is_answered[text]", "request_with_body", "each_settings_is_acknowledged", "static_entries"],
        ["data_on_stream_0", "wrong_field_name[upper case]", "content_length_differs[too much]", "index_0", "window_becomes_negative",
         "headers_need_no_window", "connection_window_is_kept", "frames_after_the_clients_end[DATA after END_STREAM]",
         "zero_increment_of_connection", "ping_ack_is_not_answered"]),
    wrong_server.harsh: (
        ["ping_is_answered[text]"],
        ["request_with_body", "data_on_stream_0", "unknown_frame_type[on stream 0]", "trailers_without_end_stream", "index_0"]),
    wrong_server.clinging: ([], ["data_on_stream_0", "ping_of_wrong_size[7 bytes]", "zero_increment_of_connection", "ping_is_answered[text]"]),
    wrong_server.resetting: (
        ["ping_is_answered[text]"], ["wrong_field_name[upper case]", "pseudo_field_missing[path]", "te_trailers", "trailers_after_body"]),
    wrong_server.silent: ([], ["ping_is_answered[text]", "server_preface_comes_first"]),
}


def run():
    """An outcome for each pair of a wrong server and a case, and one for certificates that are made at once."""
    return _wrong_servers() + [_certificates()]


def _certificates():
    """Exchanges run side by side, and share an authority."""
    about = case.Case("self-check: certificates", "suite", "an authority makes many at once", case.NOTHING, None)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(runner.THREADS) as pool:
        office = certificate.Office(folder)
        try:
            for _ in pool.map(lambda number: office.make(f"{number}", "/UID=com.example.app"), range(64)):
                pass
        except RuntimeError as error:
            return runner.Outcome(about, f"expected 64 certificates | came {error}")
    return runner.Outcome(about)


def _wrong_servers():
    known = {each.name: each for each in case.all_cases()}
    outcomes = []
    for behaviour, (right, wrong) in CHECKS.items():
        with wrong_server.running(behaviour) as server:
            for one, outcome in zip(right + wrong, runner.run_all([known[name] for name in right + wrong], server, SECONDS)):
                about = dataclasses.replace(known[one], name=f"self-check: {behaviour.__name__} server, {one}")
                unnoticed = "expected a report of the server's fault | came none" if outcome.passed else None
                outcomes.append(runner.Outcome(about, outcome.departure if one in right else unnoticed))
    return outcomes
