import { LocalBus } from "../../../coordinator/bus/local-bus.ts";
import { describeBus } from "./bus.contract.ts";

describeBus("local", async () => {
  const bus = new LocalBus();
  return [bus, bus];
});
