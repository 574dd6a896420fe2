import { api } from "../../app/api.ts";
import { useResource } from "../../app/resource.ts";
import { query } from "../../app/router.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { SimpleTable } from "../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../components/states.tsx";
import { Search } from "./filter-bar.tsx";

export function SettingsPage() {
  const settings = useResource((signal) => api().operator.settings({ signal }), []);
  const search = (query.value.get("q") ?? "").toLowerCase();
  return (
    <>
      <PageHead
        title="Settings"
        note="Settings of the coordinator that served this page. Change them in its configuration file and restart it."
      >
        <Search label="Setting" />
      </PageHead>
      <Loaded of={settings} what="the settings">
        {(list) => {
          const found = list.filter(({ key, meaning }) => `${key} ${meaning}`.toLowerCase().includes(search));
          if (found.length === 0) return <EmptyState title="No matching settings" />;
          return (
            <section class="panel">
              <SimpleTable
                rows={found}
                label="Settings"
                keyOf={({ key }) => key}
                columns={[
                  { label: "Setting", cell: ({ key }) => <code>{key}</code> },
                  {
                    label: "Value",
                    cell: ({ value }) =>
                      value === null ? <span class="muted">not set</span> : <code class="wrap">{value}</code>,
                  },
                  {
                    label: "From",
                    cell: ({ source }) => (source === "default" ? <span class="muted">default</span> : source),
                  },
                  { label: "Meaning", cell: ({ meaning }) => <span class="wrap">{meaning}</span>, isExtra: true },
                  { label: "Variable", cell: ({ environment }) => <code>{environment}</code>, isExtra: true },
                ]}
              />
            </section>
          );
        }}
      </Loaded>
    </>
  );
}
