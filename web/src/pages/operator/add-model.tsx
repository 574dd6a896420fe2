import type { AddedModel, AddModel } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { approvalChanges } from "../../app/approvals.tsx";
import { navigate } from "../../app/router.tsx";
import { ActionError, useAction } from "../../components/action.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FieldFailure } from "../../components/field-failure.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm, type FormValues } from "../../components/form.tsx";
import { formatCredits, formatMegabytes, formatWhole } from "../../components/numbers.ts";
import { Fact } from "../../components/page-head.tsx";

/** Previews a GGUF model, then adds exactly the shown revision. */
export function AddModelDialog({ onClose }: { readonly onClose: () => void }) {
  const [preview, setPreview] = useState<{ readonly wanted: AddModel; readonly model: AddedModel } | null>(null);
  const form = useForm(async (values) => {
    const wanted = readModel(values);
    setPreview({ wanted, model: await api().operator.cargos.add({ ...wanted, dry_run: true }) });
  });
  const add = useAction(async () => {
    if (preview === null) return;
    const { slug, revision } = preview.model;
    await api().operator.cargos.add({ ...preview.wanted, revision });
    approvalChanges.value += 1;
    navigate(`/operator/cargos/${encodeURIComponent(slug)}`);
  });
  return (
    <Dialog title="Add a model" onClose={onClose}>
      <form onSubmit={form.submit} onInput={() => setPreview(null)} noValidate>
        <Field
          label="Model"
          hint="hf.co/USER/REPO[:QUANT], the address of a GGUF file on the hub, or ollama:NAME[:TAG]"
          error={form.errorOf("source")}
        >
          {(props) => <input {...props} name="source" autocomplete="off" required />}
        </Field>
        <Field label="Slug" isOptional error={form.errorOf("slug")}>
          {(props) => <input {...props} name="slug" autocomplete="off" />}
        </Field>
        <Field label="Tokens of context" isOptional error={form.errorOf("context_tokens")}>
          {(props) => <input {...props} name="context_tokens" inputMode="numeric" autocomplete="off" />}
        </Field>
        <Field label="Credits per job" isOptional error={form.errorOf("price_per_job")}>
          {(props) => <input {...props} name="price_per_job" inputMode="decimal" autocomplete="off" />}
        </Field>
        <FormError form={form} />
        {preview !== null && <Preview model={preview.model} />}
        <ActionError action={add} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class={preview === null ? "button primary" : "button"} disabled={form.isBusy}>
            Preview
          </button>
          {preview !== null && (
            <button type="button" class="button primary" disabled={add.isBusy} onClick={() => add.run()}>
              Add for all accounts
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function Preview({ model: { slug, source, licence, gated, architecture, islands, cargo } }: { model: AddedModel }) {
  const text = (name: string) => (typeof cargo[name] === "string" ? cargo[name] : "");
  const megabytes = (name: string) => formatMegabytes(Number(cargo[name]));
  const files = [cargo["model"], ...listOf(cargo["parts"]), ...listOf(cargo["projector"])];
  const bytes = files.reduce((sum: number, file) => sum + Number((file as { size_bytes?: number }).size_bytes), 0);
  return (
    <dl class="facts" aria-label="Preview">
      <Fact label="Cargo">{slug}</Fact>
      <Fact label="From">{source}</Fact>
      <Fact label="Model">{[architecture, text("parameters"), text("quantization")].filter(Boolean).join(", ")}</Fact>
      <Fact label="Files">
        <span class="num">
          {files.length}, {formatWhole(bytes)} bytes
        </span>
      </Fact>
      <Fact label="Context">
        <span class="num">{formatWhole(Number(cargo["context_tokens"]))} tokens</span>
      </Fact>
      <Fact label="Memory">
        <span class="num">{megabytes("required_ram_mb")}</span>
      </Fact>
      <Fact label="GPU memory">
        <span class="num">{cargo["required_vram_mb"] === 0 ? "none" : megabytes("required_vram_mb")}</span>
      </Fact>
      <Fact label="Licence">{licence}</Fact>
      <Fact label="Gate">{gated ? "Islands need a models.hub_token that may read it" : "none"}</Fact>
      <Fact label="Price">
        <span class="num">{formatCredits(Number(cargo["price_per_job"]))} credits per job</span>
      </Fact>
      <Fact label="Islands">
        <span class="num">
          {islands.fitting} of {islands.online} online
        </span>
      </Fact>
    </dl>
  );
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value].flat();
}

function readModel(values: FormValues): AddModel {
  const source = values("source").trim();
  if (source === "") throw new FieldFailure("source", "Enter a model");
  const slug = values("slug").trim();
  const context = numberIn(values, "context_tokens", /^\d+$/);
  const price = numberIn(values, "price_per_job", /^\d+(\.\d+)?$/);
  return {
    source,
    ...(slug === "" ? {} : { slug }),
    ...(context === null ? {} : { context_tokens: context }),
    ...(price === null ? {} : { price_per_job: price }),
  };
}

function numberIn(values: FormValues, name: string, pattern: RegExp): number | null {
  const typed = values(name).trim();
  if (typed === "") return null;
  if (!pattern.test(typed)) throw new FieldFailure(name, "Enter a number");
  return Number(typed);
}
