import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { Link } from "../../app/router.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { DeclaredBadge, describeWeights } from "../../components/model-facts.tsx";
import { formatWhole } from "../../components/numbers.ts";
import { SimpleTable } from "../../components/simple-table.tsx";
import { Badge } from "../../components/status.tsx";
import { offeredCargo, proposedSlug, shortName, USES, type EngineModel } from "./engine-offer.ts";

/** Lists the models that engines of the host serve, and offers those that no Cargo uses. Otherwise empty. */
export function EngineModels({
  models,
  onOffered,
}: {
  readonly models: readonly EngineModel[];
  readonly onOffered: () => void;
}) {
  const [offered, setOffered] = useState<EngineModel | null>(null);
  if (models.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="engine-title">
      <h2 id="engine-title">Models of its engine</h2>
      <SimpleTable
        rows={models}
        label="Models of its engine"
        keyOf={({ name }) => name}
        columns={[
          { label: "Model", cell: (model) => <Name model={model} /> },
          {
            label: "Identity",
            cell: ({ declared }) => (declared ? <DeclaredBadge /> : <Badge tone="good">proved</Badge>),
          },
          { label: "Cargos", cell: (model) => <Cargos model={model} onOffer={() => setOffered(model)} /> },
          {
            label: "Context",
            isNumber: true,
            isExtra: true,
            cell: ({ context_length: tokens }) => (tokens === null ? "–" : formatWhole(tokens)),
          },
          {
            label: "State",
            isExtra: true,
            cell: ({ busy }) => <Badge tone={busy ? "waiting" : "good"}>{busy ? "busy" : "free"}</Badge>,
          },
        ]}
      />
      <p class="hint">
        A model is proved by the hash of its file, or by its commit on the hub. A declared model has only a name, and
        runs only jobs for Cargos that use this name.
      </p>
      {offered !== null && <Offer model={offered} onOffered={onOffered} onClose={() => setOffered(null)} />}
    </section>
  );
}

function Name({ model }: { readonly model: EngineModel }) {
  const weights = describeWeights(model);
  return (
    <div class="cargo-cell">
      <span title={model.name}>{shortName(model.name)}</span>
      {weights !== null && <p class="muted">{weights}</p>}
    </div>
  );
}

function Cargos({
  model: { name, declared, cargos },
  onOffer,
}: {
  readonly model: EngineModel;
  readonly onOffer: () => void;
}) {
  if (cargos.length > 0) {
    return (
      <ul class="tags">
        {cargos.map((slug) => (
          <li key={slug}>
            <Link to={`/catalog/${encodeURIComponent(slug)}`}>{slug}</Link>
          </li>
        ))}
      </ul>
    );
  }
  if (!declared) return <span class="muted">none</span>;
  return (
    <button type="button" class="button small" aria-label={`Offer this model: ${name}`} onClick={onOffer}>
      Offer this model
    </button>
  );
}

function Offer({
  model,
  onOffered,
  onClose,
}: {
  readonly model: EngineModel;
  readonly onOffered: () => void;
  readonly onClose: () => void;
}) {
  const form = useForm(async (values) => {
    await api().cargos.create(offeredCargo(model, values));
    onOffered();
    onClose();
  });
  const { name, context_length: context } = model;
  return (
    <Dialog title={`Offer ${name}`} onClose={onClose}>
      <p>
        This creates a Cargo of your account. Until the operator approves it, only you can use it, on your own Islands.
      </p>
      <form onSubmit={form.submit} noValidate>
        <Field
          label="Slug"
          hint="Clients use it as the model’s name. It must begin with “declared-”, because nothing proves which model it is."
          error={form.errorOf("slug")}
        >
          {(props) => <input {...props} name="slug" defaultValue={proposedSlug(name)} autocomplete="off" />}
        </Field>
        <Field label="Name" hint="Shown in the catalog" error={form.errorOf("name")}>
          {(props) => <input {...props} name="name" defaultValue={name} autocomplete="off" />}
        </Field>
        <Field label="Licence" hint="Licence of the model, such as Apache-2.0" error={form.errorOf("licence")}>
          {(props) => <input {...props} name="licence" autocomplete="off" />}
        </Field>
        <Field label="Credits per job" error={form.errorOf("price_per_job")}>
          {(props) => <input {...props} name="price_per_job" inputMode="decimal" autocomplete="off" />}
        </Field>
        <Field
          label="Context"
          hint="Maximum number of tokens in prompt and completion together"
          error={form.errorOf("context_tokens")}
        >
          {(props) => (
            <input
              {...props}
              name="context_tokens"
              inputMode="numeric"
              defaultValue={String(context ?? "")}
              autocomplete="off"
            />
          )}
        </Field>
        <Field label="Use" error={form.errorOf("task")}>
          {(props) => (
            <select {...props} name="use">
              {USES.map(({ label }) => (
                <option key={label}>{label}</option>
              ))}
            </select>
          )}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Offer
          </button>
        </div>
      </form>
    </Dialog>
  );
}
