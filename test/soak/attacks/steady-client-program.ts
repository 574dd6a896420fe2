/**
 * Requests `GET /account` every 10 ms, whether or not earlier requests have a response. Prints a line for each
 * response: the number of its request from 0, the time of the request in Unix milliseconds, and the latency in
 * milliseconds. Arguments: the address of the API and a key.
 */
import { Agent, get } from "node:http";

const PERIOD_MS = 10;
const [url, key] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const options = { agent, headers: { authorization: `Bearer ${key}` } };
let count = 0;

setInterval(() => {
  const number = count;
  count += 1;
  const [atMs, begin] = [Date.now(), performance.now()];
  get(`${url}/api/v1/account`, options, (response) => {
    if (response.statusCode !== 200) throw new Error(`GET /account responded ${response.statusCode}`);
    response.resume().on("end", () => {
      process.stdout.write(`${number} ${atMs} ${(performance.now() - begin).toFixed(2)}\n`);
    });
  });
}, PERIOD_MS);
