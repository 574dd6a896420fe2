import type { AuditLine } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Dialog } from "../../components/dialog.tsx";
import { JsonText } from "../../components/output.tsx";
import { Fact, PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Ago, formatTime } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";

export function AuditPage() {
  const [opened, setOpened] = useState<AuditLine | null>(null);
  const list = usePagedList<AuditLine>(
    (offset, signal) => api().operator.audit({ pageSize: PAGE_SIZE }, { signal }).page(offset),
    ({ id }) => id,
    [],
  );
  const columns: readonly Column<AuditLine>[] = [
    { label: "When", width: "6.5rem", cell: ({ at }) => <Ago at={at} /> },
    {
      label: "Action",
      width: "minmax(8rem, 13rem)",
      cell: (line) => (
        <button type="button" class="link-button" onClick={() => setOpened(line)}>
          {line.action}
        </button>
      ),
      under: targetOf,
    },
    { label: "Actor", width: "minmax(6rem, 14rem)", cell: actorOf },
    {
      label: "Target",
      width: "minmax(8rem, 1fr)",
      isExtra: true,
      cell: (line) => <span class="id">{targetOf(line)}</span>,
    },
    { label: "Change", width: "minmax(8rem, 1.5fr)", isExtra: true, cell: (line) => <Change line={line} /> },
    { label: "From", width: "9rem", isExtra: true, cell: ({ via, origin }) => `${via}, ${origin}` },
  ];
  return (
    <>
      <PageHead
        title="Audit log"
        note="Actions of operators, through the API and commands. Entries cannot be changed or removed."
      />
      <VirtualTable
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        label="Audit log"
        what="the audit log"
        empty={<EmptyState title="No actions yet" />}
      />
      {opened !== null && <LineDialog line={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** Shows all members of a line, since a narrow screen lacks columns for some of them. */
function LineDialog({ line, onClose }: { readonly line: AuditLine; readonly onClose: () => void }) {
  return (
    <Dialog title={line.action} onClose={onClose}>
      <dl class="facts">
        <Fact label="When">{formatTime(line.at)}</Fact>
        <Fact label="Actor">{actorOf(line)}</Fact>
        <Fact label="Target">
          <span class="id">{targetOf(line)}</span>
        </Fact>
        <Fact label="From">{`${line.via}, ${line.origin}`}</Fact>
      </dl>
      <Value label="Before" value={line.before} />
      <Value label="After" value={line.after} />
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Value({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <>
      <p class="muted">{label}</p>
      <JsonText value={value} label={label} />
    </>
  );
}

const actorOf = (line: AuditLine): string => line.actor_email ?? line.actor;
const targetOf = ({ target }: AuditLine): string => `${target.kind} ${target.id}`;

function Change({ line: { before, after } }: { readonly line: AuditLine }) {
  const text = [before, after].map((value) => (value === null || value === undefined ? "" : JSON.stringify(value)));
  const change = text[0] === "" ? text[1] : `${text[0]} → ${text[1]}`;
  return (
    <span class="id" title={change}>
      {change}
    </span>
  );
}
