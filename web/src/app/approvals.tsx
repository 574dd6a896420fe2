import { signal } from "@preact/signals";
import { api } from "./api.ts";
import { useResource } from "./resource.ts";

/** Counts changes to the offered Cargos; pages increment it after an approval, a disable or an enable. */
export const approvalChanges = signal(0);

/**
 * Shows next to the menu entry how many Cargos await an operator's decision: waiting ones, and shipped ones that are
 * off.
 */
export function ApprovalCount() {
  const { value = 0 } = useResource(
    async (abort) => {
      const totalOf = async (status: "waiting" | "unpinned") => {
        const page = await api().operator.cargos.list({ status, pageSize: 1 }, { signal: abort }).page(0);
        return page.meta.total;
      };
      const [waiting, off] = await Promise.all([totalOf("waiting"), totalOf("unpinned")]);
      return waiting + off;
    },
    [approvalChanges.value],
  );
  if (value === 0) return null;
  return (
    <>
      {" "}
      <span class="menu-count" title={`${value} Cargos are off or waiting for approval`}>
        {value}
      </span>
    </>
  );
}
