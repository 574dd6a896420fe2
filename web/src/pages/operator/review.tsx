import type { CargoReview } from "@atoll/client";
import { api } from "../../app/api.ts";
import { approvalChanges } from "../../app/approvals.tsx";
import { useState } from "preact/hooks";
import { useResource } from "../../app/resource.ts";
import type { PageProps } from "../../app/router.tsx";
import { ActionError, useAction } from "../../components/action.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { DECLARED_MEANING, DeclaredBadge } from "../../components/model-facts.tsx";
import { formatMegabytes, formatWhole } from "../../components/numbers.ts";
import { describePrice } from "../../components/price.ts";
import { JsonText } from "../../components/output.tsx";
import { Fact, PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatTime } from "../../components/time.tsx";
import { approvalOf, CargoState } from "./cargos.tsx";
import { CargoPrice } from "./cargo-price.tsx";
import { MissingPin } from "./missing-pin.tsx";

/** Shows everything that an approval signs, and approves it. */
export function ReviewPage({ params }: PageProps) {
  const slug = params["slug"] ?? "";
  const review = useResource((signal) => api().operator.cargos.get(slug, { signal }), [slug]);
  const [isAsking, setAsking] = useState(false);
  const { value } = review;
  const isDisabled = value?.status === "disabled";
  const toggle = useAction(async () => {
    await (isDisabled ? api().operator.cargos.enable(slug) : api().operator.cargos.disable(slug));
    approvalChanges.value += 1;
    review.reload();
  });
  const approve = useAction(async () => {
    if (value !== undefined) await api().operator.cargos.approve(slug, approvalOf(value));
    setAsking(false);
    approvalChanges.value += 1;
    review.reload();
  });
  const lacksPin = value !== undefined && value.pin !== null && value.pin.value === null;
  return (
    <>
      <PageHead
        title={value?.name ?? slug}
        back={{ to: "/operator/cargos", label: "Cargo approvals" }}
        note={value?.description}
      >
        {value !== undefined && (
          <>
            <CargoState status={value.status} />
            <button type="button" class="button" disabled={toggle.isBusy} onClick={() => toggle.run()}>
              {isDisabled ? "Enable" : "Disable"}
            </button>
            <button type="button" class="button primary" disabled={lacksPin} onClick={() => setAsking(true)}>
              Approve
            </button>
          </>
        )}
      </PageHead>
      <ActionError action={toggle} />
      <Loaded of={review} what="the Cargo">
        {(shown) => (
          <div class="detail">
            <div class="detail-main">
              <MissingPin review={shown} onPinned={review.set} />
              <Signed review={shown} />
            </div>
            <aside class="detail-side">
              <CargoPrice review={shown} onChanged={review.reload} />
              <details class="panel">
                <summary>Full definition</summary>
                <JsonText value={shown.cargo} label="Definition" />
              </details>
            </aside>
          </div>
        )}
      </Loaded>
      {isAsking && value !== undefined && (
        <ConfirmDialog
          title={`Approve ${slug}?`}
          confirm="Sign and approve"
          action={approve}
          onClose={() => setAsking(false)}
        >
          <p>All Islands will run exactly what is shown here, and every account can submit jobs for it.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Signed({ review }: { readonly review: CargoReview }) {
  const { signs } = review;
  const isEngine = signs.runtime_type === "engine";
  const pinned = (value: string | null) =>
    value === null ? <strong class="plain-bad">not pinned</strong> : <span class="id">{value}</span>;
  return (
    <section class="panel" aria-labelledby="signed-title">
      <h2 id="signed-title">What is signed</h2>
      {signs.model_url?.startsWith("engine:") === true && (
        <p>
          <DeclaredBadge /> {DECLARED_MEANING} Your approval does not change that: any Island whose engine uses the name
          gets the jobs. The slug begins with “declared-”, so that clients can see it.
        </p>
      )}
      <dl class="facts">
        <Fact label="Runtime">{signs.runtime_type}</Fact>
        {signs.image !== null && (
          <>
            <Fact label="Image">
              <span class="id">{signs.image}</span>
            </Fact>
            <Fact label="Digest">{pinned(signs.image_digest)}</Fact>
            <Fact label="Command">
              <span class="id">{signs.command === null ? "the image’s default" : signs.command.join(" ")}</span>
            </Fact>
            <Fact label="Network">
              {signs.network ? <strong class="plain-bad">can reach the public internet</strong> : "none"}
            </Fact>
          </>
        )}
        <Fact label="GPU">{signs.gpu ? "yes" : "no"}</Fact>
        {signs.model_url !== null && (
          <>
            <Fact label="Model">
              <span class="id">{signs.model_url}</span>
            </Fact>
            {review.pin?.kind === "model_commit" && <Fact label="Commit">{pinned(signs.model_commit)}</Fact>}
            {review.pin?.kind !== "model_commit" && !isEngine && (
              <Fact label="SHA-256">{pinned(signs.model_hash)}</Fact>
            )}
          </>
        )}
        {signs.model_bytes !== null && (
          <Fact label="Size">
            <span class="num">{formatWhole(signs.model_bytes)} bytes</span>
          </Fact>
        )}
        {signs.args !== null && (
          <Fact label="Arguments">
            <span class="id">{signs.args.join(" ")}</span>
          </Fact>
        )}
        <Fact label="Memory">
          <span class="num">{formatMegabytes(signs.required_ram_mb)}</span>
        </Fact>
        <Fact label="GPU memory">
          <span class="num">{signs.required_vram_mb === 0 ? "none" : formatMegabytes(signs.required_vram_mb)}</span>
        </Fact>
        <Fact label="Price">
          <span class="num">{describePrice(review)}</span>
        </Fact>
        <Fact label="From">
          {review.origin}
          {review.owner_email !== null && `, ${review.owner_email}`}
        </Fact>
        <Fact label="Revision">
          <span class="id">{review.revision}</span>
        </Fact>
        <Fact label="Last approval">
          {review.approval === null
            ? "none"
            : `${formatTime(review.approval.at)} by ${review.approval.by}${review.approval.revision === review.revision ? "" : ", for an earlier revision"}`}
        </Fact>
      </dl>
    </section>
  );
}
