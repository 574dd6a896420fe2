import { account } from "../../../app/session.ts";
import { formatBalance } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { Ledger } from "./ledger.tsx";
import { UsageCharts } from "./usage-charts.tsx";

export function UsagePage() {
  return (
    <>
      <PageHead title="Usage">
        <p class="figure">
          <span class="num">{formatBalance(account.value?.credits ?? 0)}</span>{" "}
          <span class="muted">credits to spend</span>
        </p>
      </PageHead>
      <UsageCharts />
      <Ledger />
    </>
  );
}
