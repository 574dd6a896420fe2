import type { Conversation, Message } from "@atoll/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { Link } from "../../../app/router.tsx";
import { messageOf } from "../../../components/error-message.ts";
import { TextOutput } from "../../../components/output.tsx";
import { Repaints } from "../../../components/repaints.ts";
import { StreamedText } from "../../../components/streamed-text.tsx";
import { Ago } from "../../../components/time.tsx";
import { WaitingReason } from "../../../components/waiting-reason.tsx";

interface Pending {
  readonly question: string;
  readonly answer: string;
}

/** Shows the messages of a conversation, and a field for the next one. */
export function Thread({
  conversation,
  messages,
  earlier,
  onEarlier,
  onChange,
}: {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly earlier: number;
  readonly onEarlier: () => void;
  readonly onChange: () => void;
}) {
  const [text, setText] = useState("");
  const [pending, setPending] = useState<Pending | null>(null);
  const [error, setError] = useState<string | null>(null);
  const abort = useRef<AbortController | null>(null);
  const isSending = useRef(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => () => abort.current?.abort(), []);
  const answered = pending?.answer.length ?? 0;
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [messages.at(-1)?.id, answered]);
  // The stored messages have been loaded, and include the pending ones.
  useEffect(() => setPending(null), [messages]);

  const send = async (): Promise<void> => {
    const question = text.trim();
    if (question === "" || isSending.current) return;
    isSending.current = true;
    const controller = new AbortController();
    abort.current = controller;
    setText("");
    setError(null);
    let [answer, isStored] = ["", false];
    const repaints = new Repaints(() => setPending({ question, answer }));
    setPending({ question, answer });
    try {
      for await (const event of api().conversations.stream(
        conversation.id,
        { content: question },
        { signal: controller.signal },
      )) {
        if (event.type === "message") isStored = true;
        else if (event.type === "token") answer += event.content;
        else if (event.type === "error" && event.code !== "cancelled") setError(`${event.code}: ${event.error}`);
        repaints.schedule(answer.length);
      }
      repaints.now();
    } catch (failure) {
      repaints.cancel();
      if (!controller.signal.aborted) setError(messageOf(failure));
      // A message that was not stored goes back to the field.
      if (!isStored) {
        setPending(null);
        setText((now) => (now === "" ? question : now));
      }
    }
    isSending.current = false;
    onChange();
  };
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      class="chat panel"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="turns" role="log" aria-label="Messages" tabIndex={0} ref={box}>
        {conversation.system_prompt !== null && (
          <article class="turn system">
            <h2>System prompt</h2>
            <pre class="output">{conversation.system_prompt}</pre>
          </article>
        )}
        {earlier > 0 && (
          <button type="button" class="link-button" onClick={onEarlier}>
            Show earlier messages ({earlier})
          </button>
        )}
        {useMemo(() => messages.map((message) => <MessageTurn key={message.id} message={message} />), [messages])}
        {messages.length === 0 && pending === null && <p class="chat-empty muted">No messages yet.</p>}
        {pending !== null && (
          <>
            <article class="turn user">
              <h2>You</h2>
              <pre class="output">{pending.question}</pre>
            </article>
            <article class="turn assistant">
              <h2>Answer</h2>
              {pending.answer === "" ? (
                <WaitingReason model={conversation.model} />
              ) : (
                <StreamedText text={pending.answer} />
              )}
            </article>
          </>
        )}
      </div>
      <div role="alert">{error !== null && <p class="form-error">{error}</p>}</div>
      <div class="composer">
        <label class="hidden" for="message">
          Message
        </label>
        <textarea
          id="message"
          rows={3}
          placeholder="Write a message. Enter sends, Shift+Enter starts a new line."
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={sendOnEnter}
        />
        {/* The keys make the buttons separate elements. If a Stop button became Send during a click, the click would submit the form. */}
        <div class="actions">
          {pending !== null ? (
            <button key="stop" type="button" class="button danger" onClick={() => abort.current?.abort()}>
              Stop
            </button>
          ) : (
            <button key="send" class="button primary" disabled={text.trim() === ""}>
              Send
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

function MessageTurn({ message }: { readonly message: Message }) {
  return (
    <article class={`turn ${message.role}`}>
      <h2>
        {message.role === "user" ? "You" : "Answer"} <Ago at={message.created_at} />
        {message.job_id !== null && <Link to={`/jobs/${message.job_id}`}>Job</Link>}
      </h2>
      {message.role === "user" ? <pre class="output">{message.content}</pre> : <TextOutput text={message.content} />}
      {message.status !== "completed" && message.role === "assistant" && (
        <p class="muted">
          {message.status === "in_progress" ? "In progress" : message.status}
          {message.error !== null && `: ${message.error.message}`}
        </p>
      )}
    </article>
  );
}
