import type { Job } from "@atoll/client";
import { formatWhole } from "../../../components/numbers.ts";

type Verified = NonNullable<Job["verification"]>;

const TEXTS: Record<Verified["verdict"], string> = {
  not_chosen: "not chosen for an audit",
  pending: "audit in progress",
  consistent: "the answer is one that the model gives",
  inconsistent: "the answer is not one that the model gives",
  unclear: "the audit has no clear result",
};

/** What other owners' Islands found when they read the answer. */
export function Verification({ of: { verdict, readers, refunded } }: { readonly of: Verified }) {
  return (
    <>
      {TEXTS[verdict]}
      {readers > 0 && `, ${formatWhole(readers)} ${readers === 1 ? "reading" : "readings"}`}
      {refunded && ". Your credits were returned"}
    </>
  );
}
