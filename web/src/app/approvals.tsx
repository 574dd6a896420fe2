import { signal } from "@preact/signals";
import { api } from "./api.ts";
import { useResource } from "./resource.ts";

/** Raised by what changes which Cargos are offered. */
export const approvalChanges = signal(0);

/** How many Cargos an operator can decide on, beside the menu entry: those that wait, and shipped ones that are off. */
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
      <span class="menu-count" title={`${value} Cargos are off or wait for an approval`}>
        {value}
      </span>
    </>
  );
}
