import type { CargoDetail, Model } from "@atoll/client";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import { Link, type PageProps } from "../../../app/router.tsx";
import { CargoRunner } from "../../../components/cargo-runner.tsx";
import {
  DECLARED_MEANING,
  DeclaredBadge,
  describeAbilities,
  describeKinds,
  describeWeights,
} from "../../../components/model-facts.tsx";
import { formatDuration, formatMegabytes, formatRate, formatWhole } from "../../../components/numbers.ts";
import { describePrice } from "../../../components/price.ts";
import { JsonText } from "../../../components/output.tsx";
import { Fact, PageHead } from "../../../components/page-head.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Badge } from "../../../components/status.tsx";
import { describeAvailability } from "../playground/availability.ts";
import { readModels } from "../playground/models.ts";
import { useAvailability } from "../playground/use-availability.ts";

export function CargoPage({ params }: PageProps) {
  const slug = params["slug"] ?? "";
  const cargo = useResource((signal) => api().cargos.get(slug, { signal }), [slug]);
  const state = describeAvailability(useAvailability(), slug);
  const models = useResource(readModels, []);
  return (
    <>
      <PageHead
        title={cargo.value?.name ?? slug}
        back={{ to: "/catalog", label: "Catalog" }}
        note={cargo.value?.description}
      >
        {state !== null && <Badge tone={state.tone}>{state.text}</Badge>}
        {cargo.value?.declared === true && <DeclaredBadge />}
        {cargo.value?.approved === false && <Badge tone="waiting">not approved yet</Badge>}
        {cargo.value?.chat === true && (
          <Link to={`/playground?cargo=${encodeURIComponent(slug)}`} class="button">
            Chat in the playground
          </Link>
        )}
        <Link to={`/jobs?cargo=${encodeURIComponent(slug)}`} class="button">
          Your jobs
        </Link>
      </PageHead>
      <Loaded of={cargo} what="the Cargo">
        {(value) => (
          <div class="detail">
            <div class="detail-main">
              <CargoRunner key={slug} cargo={value} />
            </div>
            <aside class="detail-side">
              <section class="panel" aria-labelledby="facts-title">
                <h2 id="facts-title">Details</h2>
                {value.declared && <p>{DECLARED_MEANING}</p>}
                <Facts cargo={value} model={models.value?.get(slug)} />
              </section>
              <details class="panel">
                <summary>Input schema</summary>
                <JsonText value={value.input_schema} label="Input schema" />
              </details>
            </aside>
          </div>
        )}
      </Loaded>
    </>
  );
}

function Facts({ cargo, model }: { readonly cargo: CargoDetail; readonly model: Model | undefined }) {
  const [kinds, abilities, weights] = [describeKinds(cargo), describeAbilities(cargo), describeWeights(cargo)];
  return (
    <dl class="facts">
      <Fact label="Slug">
        <span class="id">{cargo.slug}</span>
      </Fact>
      <Fact label="Runtime">{cargo.runtime_type}</Fact>
      {kinds !== null && <Fact label="Input → output">{kinds}</Fact>}
      {abilities !== null && <Fact label="Abilities">{abilities}</Fact>}
      {weights !== null && <Fact label="Weights">{weights}</Fact>}
      <Fact label="Licence">{cargo.licence}</Fact>
      <Fact label="Price">
        <span class="num">{describePrice(cargo)}</span>
      </Fact>
      {cargo.required_ram_mb > 0 && (
        <Fact label="Memory">
          <span class="num">{formatMegabytes(cargo.required_ram_mb)}</span>
        </Fact>
      )}
      {cargo.required_vram_mb > 0 && (
        <Fact label="GPU memory">
          <span class="num">{formatMegabytes(cargo.required_vram_mb)}</span>
        </Fact>
      )}
      {cargo.context_tokens !== null && (
        <Fact label="Context">
          <span class="num">{formatWhole(cargo.context_tokens)} tokens</span>
        </Fact>
      )}
      {model?.tokens_per_second != null && (
        <Fact label="Speed">
          <span class="num">{formatRate(model.tokens_per_second)} tokens/s</span>
        </Fact>
      )}
      {model?.first_token_ms != null && (
        <Fact label="First token">
          <span class="num">after {formatDuration(model.first_token_ms)}</span>
        </Fact>
      )}
      <Fact label="Wait limit">
        <span class="num">{formatDuration(cargo.wait_limit_s * 1_000)}</span>
      </Fact>
      <Fact label="Run limit">
        <span class="num">{formatDuration(cargo.run_limit_s * 1_000)}</span>
      </Fact>
    </dl>
  );
}
