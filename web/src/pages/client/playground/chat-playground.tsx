import type { Cargo, CargoDetail } from "@atoll/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import { chatSamples, CodeSamples } from "../../../components/code-samples.tsx";
import { FormError, useForm } from "../../../components/form.tsx";
import { formatCredits, formatDuration, formatRate, formatWhole } from "../../../components/numbers.ts";
import { describePrice } from "../../../components/price.ts";
import { TextOutput } from "../../../components/output.tsx";
import { placeholderOf, type InputSchema } from "../../../components/schema-form/input-schema.ts";
import { StreamedText } from "../../../components/streamed-text.tsx";
import { useChatRun, type ChatRun, type Turn } from "./chat-run.ts";
import { WaitingReason } from "../../../components/waiting-reason.tsx";
import { NO_PARAMETERS, ParameterFields, readParameters } from "./parameters.tsx";

/** Chat with a model and parameters, with the speed of its responses. */
export function ChatPlayground({ cargo }: { readonly cargo: Cargo }) {
  const model = cargo.slug;
  const detail = useResource((signal) => api().cargos.get(model, { signal }), [model]);
  const run = useChatRun();
  const [typed, setTyped] = useState(NO_PARAMETERS);
  const [prompt, setPrompt] = useState("");
  const isRunning = run.state === "waiting" || run.state === "streaming";
  const form = useForm(async () => {
    const content = prompt.trim();
    if (content === "" || isRunning) return;
    const body = { model, ...readParameters(typed) };
    setPrompt("");
    const hasAnswer = await run.send(body, typed.system, content);
    // Without a response the prompt goes back to the field.
    if (!hasAnswer) setPrompt((now) => (now === "" ? content : now));
  });
  const sendOnEnter = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
  };
  const messages = [
    ...(typed.system === "" ? [] : [{ role: "system", content: typed.system }]),
    ...run.turns.filter(({ role }) => role === "user").slice(-1),
  ];
  return (
    <div class="playground">
      <form class="chat panel" onSubmit={form.submit} noValidate>
        <Turns
          model={model}
          turns={run.turns}
          isWaiting={run.state === "waiting"}
          isStreaming={run.state === "streaming"}
        />
        <SpeedMetrics run={run} />
        <FormError form={form} />
        <div class="composer">
          <label class="hidden" for="prompt">
            Prompt
          </label>
          <textarea
            id="prompt"
            rows={3}
            placeholder="Ask something. Enter sends, Shift+Enter starts a new line."
            value={prompt}
            onInput={(event) => setPrompt(event.currentTarget.value)}
            onKeyDown={sendOnEnter}
          />
          {/* The keys make the buttons separate elements. If a Stop button became Send during a click, the click would submit the form. */}
          <div class="actions">
            <span class="muted">
              Costs <span class="num">{describePrice(cargo)}</span>
            </span>
            {run.turns.length > 0 && (
              <button type="button" class="button" onClick={run.clear}>
                New chat
              </button>
            )}
            {isRunning ? (
              <button key="stop" type="button" class="button danger" onClick={run.stop}>
                Stop
              </button>
            ) : (
              <button key="send" class="button primary" disabled={prompt.trim() === ""}>
                Send
              </button>
            )}
          </div>
        </div>
      </form>
      <aside class="playground-side">
        <details class="panel" open={matchMedia("(min-width: 62rem)").matches}>
          <summary>Parameters</summary>
          <ParameterFields typed={typed} onChange={setTyped} form={form} defaults={defaultsOf(detail.value)} />
        </details>
        <details class="panel">
          <summary>Call from code</summary>
          <Samples model={model} typed={typed} messages={messages} />
        </details>
      </aside>
    </div>
  );
}

/** Returns the default values of the input's members, by name. */
function defaultsOf(detail: CargoDetail | undefined): Readonly<Record<string, string>> {
  const { properties = {} } = (detail?.input_schema ?? {}) as InputSchema;
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, placeholderOf(member)]));
}

function Samples({
  model,
  typed,
  messages,
}: {
  readonly model: string;
  readonly typed: typeof NO_PARAMETERS;
  readonly messages: readonly object[];
}) {
  let parameters = {};
  try {
    parameters = readParameters(typed);
  } catch {
    // Errors are shown at the fields.
  }
  const shown = messages.length === 0 ? [{ role: "user", content: "Count from 3 to 9." }] : messages;
  return <CodeSamples samples={chatSamples({ model, messages: shown, ...parameters })} />;
}

function Turns({
  model,
  turns,
  isWaiting,
  isStreaming,
}: {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly isWaiting: boolean;
  readonly isStreaming: boolean;
}) {
  const end = useRef<HTMLDivElement>(null);
  const length = turns.at(-1)?.content.length ?? 0;
  useEffect(() => {
    const box = end.current?.parentElement;
    // Scroll with the text unless the user has scrolled up.
    if (box != null && box.scrollHeight - box.scrollTop - box.clientHeight < 120) box.scrollTop = box.scrollHeight;
  }, [turns.length, length]);
  if (turns.length === 0 && !isWaiting) {
    return (
      <p class="chat-empty muted">
        Answers appear here as they are generated, with their speed. Leaving the page ends the chat.
      </p>
    );
  }
  return (
    <div class="turns" role="log" aria-label="Chat" aria-live={isStreaming ? "off" : "polite"} tabIndex={0}>
      {turns.map(({ role, content }, index) => (
        <ChatTurn key={index} role={role} content={content} isGrowing={isStreaming && index === turns.length - 1} />
      ))}
      {isWaiting && <WaitingReason model={model} />}
      <div ref={end} />
    </div>
  );
}

/**
 * A turn of the chat. It is rendered again only when it changes, so that a growing completion does not repaint other
 * turns.
 */
function ChatTurn({ role, content, isGrowing }: Turn & { readonly isGrowing: boolean }) {
  return useMemo(
    () => (
      <article class={`turn ${role}`}>
        <h3>{role === "user" ? "You" : "Answer"}</h3>
        {isGrowing ? (
          <StreamedText text={content} />
        ) : role === "assistant" ? (
          <TextOutput text={content} />
        ) : (
          <pre class="output">{content}</pre>
        )}
      </article>
    ),
    [role, content, isGrowing],
  );
}

function SpeedMetrics({ run }: { readonly run: ChatRun }) {
  const { speed, cost, state, error } = run;
  return (
    <div class="figures" aria-live="polite">
      {speed?.firstTokenMs != null && (
        <dl class="inline-facts">
          <div>
            <dt>First token</dt>
            <dd class="num">{formatDuration(speed.firstTokenMs)}</dd>
          </div>
          <div>
            <dt>Tokens</dt>
            <dd class="num">{formatWhole(speed.tokens)}</dd>
          </div>
          <div>
            <dt>Tokens/s</dt>
            <dd class="num">{speed.tokensPerSecond === null ? "–" : formatRate(speed.tokensPerSecond)}</dd>
          </div>
          {cost !== null && (
            <div>
              <dt>Cost</dt>
              <dd class="num">{formatCredits(cost)} credits</dd>
            </div>
          )}
        </dl>
      )}
      {state === "stopped" && <p class="muted">Stopped.</p>}
      {error !== null && <p class="form-error">{error}</p>}
    </div>
  );
}
