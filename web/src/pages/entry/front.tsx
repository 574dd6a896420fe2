import { NotFoundError, type Cargo, type Network } from "@atoll/client";
import { useEffect } from "preact/hooks";
import { api } from "../../app/api.ts";
import { BASE_URL } from "../../app/base.ts";
import { usePolling, useResource } from "../../app/resource.ts";
import { Link, navigate } from "../../app/router.tsx";
import { Announcements, Mark } from "../../app/shell.tsx";
import { DECLARED_MEANING, DeclaredBadge, ModelFacts } from "../../components/model-facts.tsx";
import { formatCredits, formatWhole } from "../../components/numbers.ts";
import { describePrice } from "../../components/price.ts";
import { Loaded } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Tile } from "../../components/tile.tsx";
import { describeAvailability, type AvailabilityBySlug } from "../client/playground/availability.ts";
import { AVAILABILITY_POLL_MS } from "../client/playground/use-availability.ts";

/** Page for visitors without an account. Shows the sign-in form if the operator has hidden the network from visitors. */
export function FrontPage() {
  const shown = useResource(readAll, []);
  usePolling(shown.reload, AVAILABILITY_POLL_MS);
  const isHidden = shown.error instanceof NotFoundError;
  useEffect(() => {
    if (isHidden) navigate("/sign-in", { replace: true });
  }, [isHidden]);
  if (isHidden) return null;
  return (
    <div class="front">
      <header class="top">
        <p class="brand">
          <Mark /> Atoll
        </p>
        <nav class="front-links" aria-label="Entry">
          <a href="docs">API reference</a>
          <Link to="/sign-in" class="button primary">
            Sign in
          </Link>
        </nav>
      </header>
      <main class="main" id="main">
        <h1>A network of machines that run AI models and small programs for each other</h1>
        <Announcements />
        <Loaded of={shown} what="the network">
          {({ network, cargos }) => (
            <>
              <NetworkTotals network={network} cargos={cargos} />
              <div class="columns">
                <UsageHint network={network} />
                <LendMachine />
              </div>
              <Offer network={network} cargos={cargos} />
            </>
          )}
        </Loaded>
      </main>
    </div>
  );
}

interface FrontData {
  readonly network: Network;
  readonly cargos: readonly Cargo[];
}

async function readAll(signal: AbortSignal): Promise<FrontData> {
  const [network, cargos] = await Promise.all([api().network({ signal }), api().cargos.list({}, { signal })]);
  return { network, cargos };
}

function NetworkTotals({ network, cargos }: FrontData) {
  return (
    <dl class="tiles">
      <Tile label="Islands (machines) online" value={formatWhole(network.islands_online)} />
      <Tile label="Cargos (workloads) offered" value={formatWhole(cargos.length)} />
      <Tile label="Cargos that can run now" value={formatWhole(network.cargos.length)} />
    </dl>
  );
}

function UsageHint({ network: { registration, new_account_credits: credits } }: Pick<FrontData, "network">) {
  const gift = credits > 0 ? ` A new account starts with ${formatCredits(credits)} credits.` : "";
  return (
    <section class="panel" aria-labelledby="use-title">
      <h2 id="use-title">Use it</h2>
      {registration === "closed" ? (
        <p>Ask the operator of this network for an account.{gift}</p>
      ) : (
        <p>
          <Link to="/register">Open an account</Link>
          {registration === "email" ? " with your e-mail address. We send you a token to confirm it." : "."}
          {gift}
        </p>
      )}
      <p>
        Then use the playground, or any OpenAI-compatible client with an API key and the base URL{" "}
        <code>{new URL("v1", BASE_URL).href}</code>.
      </p>
    </section>
  );
}

function LendMachine() {
  return (
    <section class="panel" aria-labelledby="lend-title">
      <h2 id="lend-title">Lend a machine</h2>
      <p>
        A machine with a free CPU or GPU can become an Island. It runs jobs of other accounts in separate processes and
        earns credits. Sign in and choose <Link to="/islands/add">Add an Island</Link> for the commands on Linux, macOS
        and Windows.
      </p>
    </section>
  );
}

function Offer({ network, cargos }: FrontData) {
  const known = new Map(network.cargos.map((cargo) => [cargo.slug, cargo]));
  const now = cargos.filter(({ slug }) => known.has(slug));
  const later = cargos.filter(({ slug }) => !known.has(slug));
  return (
    <section aria-labelledby="offer-title" class="front-offer">
      <h2 id="offer-title">What it runs</h2>
      {cargos.length === 0 && <p class="muted">No Cargos are offered yet.</p>}
      <Cards cargos={now} known={known} />
      {later.length > 0 && (
        <details open={now.length === 0}>
          <summary>
            {formatWhole(later.length)} {now.length === 0 ? "" : "more "}
            {later.length === 1 ? "Cargo" : "Cargos"} that no Island can run now
          </summary>
          <Cards cargos={later} known={known} />
        </details>
      )}
    </section>
  );
}

function Cards({ cargos, known }: { readonly cargos: readonly Cargo[]; readonly known: AvailabilityBySlug }) {
  return (
    <ul class="cards">
      {cargos.map((cargo) => {
        const state = describeAvailability(known, cargo.slug);
        return (
          <li key={cargo.slug} class="card">
            <h3 class="card-head">
              {cargo.name}
              {cargo.declared && <DeclaredBadge />}
            </h3>
            <p>{cargo.description}</p>
            {cargo.declared && <p>{DECLARED_MEANING}</p>}
            <ModelFacts of={cargo} />
            <p class="card-foot muted">
              <span class="num">{describePrice(cargo)}</span>
              {state !== null && <Badge tone={state.tone}>{state.text}</Badge>}
            </p>
          </li>
        );
      })}
    </ul>
  );
}
