"""Tests of `Atoll` against a real coordinator, behind a proxy that injects faults."""

from __future__ import annotations

import os

import pytest
from conftest import PIECES, TEXT, Bench

from atoll_client import (
    Atoll,
    AtollConnectionError,
    AtollTimeoutError,
    AuthenticationError,
    JobFailedError,
    NotFoundError,
    PermissionDeniedError,
    ProtocolError,
    RateLimitError,
    ServiceUnavailableError,
    ValidationError,
    event_id_of,
)

CARGO = "tiny-chat"


def text_of(atoll: Atoll, job_id: str, last_event_id: str | None = None) -> str:
    events = list(atoll.jobs.stream(job_id, last_event_id=last_event_id))
    assert events[-1]["type"] == "done"
    return "".join(event["content"] for event in events if event["type"] == "token")


def test_a_job_is_submitted_awaited_and_read(atoll: Atoll) -> None:
    job = atoll.jobs.run(workload=CARGO, input={"prompt": "Hi"}, timeout=60)
    assert (job["status"], job["output"]) == ("completed", TEXT)
    assert text_of(atoll, job["id"]) == TEXT
    output = atoll.jobs.output(job["id"])
    assert (output["output"], output["is_complete"]) == (TEXT, True)
    atoll.jobs.delete_content(job["id"])
    assert atoll.jobs.get(job["id"])["input"] == {}


def test_submit_survives_a_lost_response_without_a_second_job(atoll: Atoll, bench: Bench) -> None:
    before = atoll.jobs.list().page()["meta"]["total"]
    bench.script({"kind": "refuse"}, {"kind": "swallow"}, {"kind": "respond", "status": 504})
    atoll.jobs.submit(workload=CARGO, input={"prompt": "Hi"})
    keys = [request["headers"]["idempotency-key"] for request in bench.seen()]
    assert len(keys) == 4 and len(set(keys)) == 1
    assert atoll.jobs.list().page()["meta"]["total"] == before + 1


def test_a_stream_resumes_without_gap_or_repeat(atoll: Atoll, bench: Bench) -> None:
    job_id = atoll.jobs.run(workload=CARGO, input={"prompt": "Hi"})["id"]
    whole = [event for event in atoll.jobs.stream(job_id)]
    for after_bytes in (0, 60, 150, 400):
        bench.script({"kind": "cut", "afterBytes": after_bytes}, {"kind": "end", "afterBytes": 100})
        assert [event for event in atoll.jobs.stream(job_id)] == whole
    assert len(bench.seen()) == 3
    first = next(event for event in whole if event["type"] == "token")
    rest = list(atoll.jobs.stream(job_id, last_event_id=event_id_of(first)))
    assert rest == whole[whole.index(first) + 1 :]
    assert list(atoll.jobs.stream(job_id, last_event_id=event_id_of(whole[-1]))) == []


def test_a_silent_stream_counts_as_dropped(bench: Bench) -> None:
    with Atoll(stream_idle=0.2, max_retries=0) as impatient:
        job_id = impatient.jobs.run(workload=CARGO, input={"prompt": "Hi"})["id"]
        bench.script({"kind": "stall", "afterBytes": 100})
        with pytest.raises(AtollTimeoutError):
            text_of(impatient, job_id)


def test_a_lost_position_restarts_the_stream(atoll: Atoll, bench: Bench) -> None:
    job_id = atoll.jobs.run(workload=CARGO, input={"prompt": "Hi"})["id"]
    lost = {"kind": "respond", "status": 422, "body": {"error": {"code": "position_lost", "message": "lost"}}}
    bench.script({"kind": "cut", "afterBytes": 200}, lost)
    types = [event["type"] for event in atoll.jobs.stream(job_id)]
    assert types.count("restart") == 1 and types[-1] == "done"
    events = list(atoll.jobs.stream(job_id))
    assert types[types.index("restart") + 1 :] == [event["type"] for event in events]


def test_wait_raises_for_a_job_that_did_not_complete(atoll: Atoll, bench: Bench) -> None:
    with pytest.raises(JobFailedError) as failed:
        atoll.jobs.run(workload=CARGO, input={"prompt": "fail"})
    assert (failed.value.job_error, failed.value.retryable) == ("model_invalid", False)
    assert failed.value.job is not None and failed.value.job["status"] == "failed"
    held = atoll.jobs.submit(workload=CARGO, input={"prompt": "hold"})["id"]
    with pytest.raises(AtollTimeoutError, match="did not end within 0.3 s"):
        atoll.jobs.wait(held, timeout=0.3)
    for _ in range(2):
        assert atoll.jobs.cancel(held)["status"] == "cancelled"
    with pytest.raises(JobFailedError) as cancelled:
        atoll.jobs.wait(held)
    assert cancelled.value.job_error == "cancelled"
    done = atoll.jobs.run(workload=CARGO, input={"prompt": "Hi"})["id"]
    with pytest.raises(ValidationError):
        atoll.jobs.cancel(done)


def test_jobs_are_listed_page_by_page_without_duplicates(atoll: Atoll) -> None:
    batch = atoll.batches.submit(workload=CARGO, inputs=[{"prompt": str(n)} for n in range(5)])
    ended = atoll.batches.wait(batch["id"], timeout=60)
    assert (ended["status"], ended["counts"]["completed"]) == ("completed", 5)
    read = atoll.batches.get(batch["id"], include="output", output_offset=3)
    assert [isinstance(job.get("output"), str) for job in read["jobs"]] == [False, False, False, True, True]
    assert read.get("next_output_offset") is None
    listed = [job["id"] for job in atoll.jobs.list(batch=batch["id"], status=["completed"], page_size=2)]
    assert sorted(listed) == sorted(job["id"] for job in ended["jobs"])
    assert atoll.jobs.list(batch=batch["id"]).page(4)["meta"] == {"total": 5, "limit": 100, "offset": 4}
    with pytest.raises(ValidationError):
        atoll.batches.cancel(batch["id"])
    assert len(list(atoll.jobs.list(batch=batch["id"], offset=3))) == 2


def test_chats_stream_and_are_not_sent_twice(atoll: Atoll, bench: Bench) -> None:
    completion = atoll.chat.create(model=CARGO, messages=[{"role": "user", "content": "Hi"}])
    assert completion["choices"][0]["message"]["content"] == TEXT
    assert "".join(atoll.chat.text(model=CARGO, messages=[{"role": "user", "content": "Hi"}])) == TEXT
    limited = {"kind": "respond", "status": 429, "headers": {"retry-after": "0"}}
    bench.script(limited, {"kind": "cut", "afterBytes": 200})
    with pytest.raises(AtollConnectionError):
        list(atoll.chat.stream(model=CARGO, messages=[{"role": "user", "content": "Hi"}]))
    assert len(bench.seen()) == 2
    bench.script({"kind": "swallow"})
    with pytest.raises(AtollConnectionError):
        atoll.chat.create(model=CARGO, messages=[{"role": "user", "content": "Hi"}])
    with pytest.raises(JobFailedError):
        list(atoll.chat.stream(model=CARGO, messages=[{"role": "user", "content": "fail"}]))
    assert atoll.models.get(CARGO)["id"] in [model["id"] for model in atoll.models.list()]


def test_leaving_a_loop_closes_the_connection(atoll: Atoll) -> None:
    held = atoll.jobs.submit(workload=CARGO, input={"prompt": "hold"})["id"]
    for event in atoll.jobs.stream(held):
        if event["type"] == "token":
            break
    pool = atoll._http.client._transport._pool  # type: ignore[attr-defined]
    assert [connection for connection in pool.connections if not connection.is_idle()] == []
    atoll.jobs.cancel(held)


def test_conversations_are_stored(atoll: Atoll) -> None:
    conversation = atoll.conversations.create(model=CARGO, title="Sums")
    sent = atoll.conversations.send(conversation["id"], content="Hi")
    assert sent["message"]["content"] == TEXT
    types = [event["type"] for event in atoll.conversations.stream(conversation["id"], content="Again")]
    assert types[0] == "message" and types[-1] == "done"
    roles = [message["role"] for message in atoll.conversations.messages(conversation["id"], page_size=3)]
    assert roles == ["user", "assistant"] * 2
    assert atoll.conversations.update(conversation["id"], title="More")["title"] == "More"
    assert "messages" not in atoll.conversations.get(conversation["id"])
    assert conversation["id"] in [found["id"] for found in atoll.conversations.list()]
    atoll.conversations.delete(conversation["id"])


def test_a_deletion_with_a_lost_response_succeeds(atoll: Atoll, bench: Bench) -> None:
    first, second = (atoll.conversations.create()["id"] for _ in range(2))
    bench.script({"kind": "swallow"})
    atoll.conversations.delete(first)
    atoll.conversations.delete(second)
    with pytest.raises(NotFoundError):
        atoll.conversations.delete(second)


def test_events_restart_with_reset_after_a_broken_connection(atoll: Atoll, bench: Bench) -> None:
    bench.script({"kind": "cut", "afterBytes": 90})
    types: list[str] = []
    for event in atoll.events():
        types.append(event["type"])
        # Events are not repeated: the first job may have ended while the connection was lost.
        if event["type"] == "reset":
            atoll.jobs.submit(workload=CARGO, input={"prompt": "Hi"})
        if event["type"] == "job" and event["status"] == "completed":
            break
    assert types[:3] == ["reset", "offline", "reset"]
    with pytest.raises(AuthenticationError):
        list(atoll.with_options(api_key="ak_wrong").events())


def test_account_keys_tokens_islands_and_catalog(atoll: Atoll) -> None:
    key = atoll.api_keys.create(name="dashboard", scopes=["read"], credits_per_month=5)
    reader = atoll.with_options(api_key=key["key"])
    assert reader.account.get()["credits"] > 0
    with pytest.raises(PermissionDeniedError):
        reader.jobs.submit(workload=CARGO, input={"prompt": "Hi"})
    atoll.api_keys.update(key["data"]["id"], credits_per_month=None)
    atoll.api_keys.revoke(key["data"]["id"])
    with pytest.raises(AuthenticationError):
        reader.account.get()
    assert key["data"]["id"] not in [each["id"] for each in atoll.api_keys.list()]
    assert [line["kind"] for line in atoll.account.ledger()]
    totals = atoll.account.usage(by=["day"]).totals()
    assert totals["spent"] >= 0
    assert CARGO in [cargo["slug"] for cargo in atoll.cargos.list(category="llm")]
    assert atoll.cargos.get(CARGO)["example_input"]
    assert CARGO in [cargo["slug"] for cargo in atoll.cargos.availability()["data"]]
    island = next(iter(atoll.islands.list(status="online")))
    assert atoll.islands.rename(island["id"], "attic")["name"] == "attic"
    token = atoll.island_tokens.create(name="attic")
    assert atoll.island_tokens.create_pairing_code(name="attic")["code"]
    atoll.island_tokens.revoke(token["data"]["id"])
    assert atoll.health()["status"] == "ok"
    assert atoll.announcements() == []


def test_operators_see_the_network(atoll: Atoll) -> None:
    operator = atoll.with_options(api_key=os.environ["ATOLL_TEST_OPERATOR"]).operator
    assert operator.overview()
    account = next(each for each in operator.accounts.list(search="client@") if each["email"] == "client@example.com")
    granted = operator.accounts.grant(account["id"], 5)
    assert operator.accounts.get(account["id"])["credits"] <= granted
    assert any(job["status"] == "completed" for job in operator.jobs(status=["completed"]))
    assert [line["action"] for line in operator.audit(target=account["id"])]
    notice = operator.announce(text="Hello", level="info")
    assert [each["id"] for each in atoll.announcements()] == [notice["id"]]
    operator.remove_announcement(notice["id"])
    with pytest.raises(PermissionDeniedError):
        atoll.operator.queue()


def test_errors_have_distinct_classes(atoll: Atoll, bench: Bench) -> None:
    with pytest.raises(ValidationError) as wrong:
        atoll.jobs.submit(workload=CARGO, input={"prompt": 7})
    assert wrong.value.details[0]["path"] == "input.prompt" and wrong.value.request_id
    limited: dict[str, object] = {"kind": "respond", "status": 429, "headers": {"retry-after": "61"}}
    bench.script(limited)
    with pytest.raises(RateLimitError) as late:
        atoll.jobs.get("job_1")
    assert late.value.retry_after_s == 61 and len(bench.seen()) == 1
    bench.script(*[{"kind": "respond", "status": 503}] * 3)
    with pytest.raises(ServiceUnavailableError):
        atoll.with_options(max_retries=2).jobs.get("job_1")
    assert len(bench.seen()) == 3
    bench.script({"kind": "respond", "status": 200, "body": "<html>", "headers": {"content-type": "text/html"}})
    with pytest.raises(ProtocolError):
        atoll.jobs.get("job_1")
    bench.script({"kind": "respond", "status": 200, "body": "<html>", "headers": {"content-type": "text/html"}})
    with pytest.raises(ProtocolError):
        list(atoll.jobs.stream("job_1"))
    bench.script({"kind": "silence"})
    with pytest.raises(AtollTimeoutError):
        atoll.with_options(timeout=0.1, max_retries=0).jobs.get("job_1")
    assert PIECES[0] in TEXT
