import { JobInput, JobOutput } from "./lib/job";
import { parsePath, PathSegment } from "./lib/json-path";
import { JsonNode, select } from "./lib/json-path-select";

/** The values that a JSONPath (RFC 9535, see lib/json-path.ts) selects, each with its normalized path. */
const input = new JobInput();
const segments: PathSegment[] = parsePath(input.text("query"));
const nodes: JsonNode[] = select(input.any("data"), segments);

const output = new JobOutput();
output.json.nameInteger("count", nodes.length);
output.json.nameList("values");
for (let at = 0; at < nodes.length; at++) output.json.value(nodes[at].value);
output.json.endList();
output.json.nameList("paths");
for (let at = 0; at < nodes.length; at++) output.json.text(nodes[at].path());
output.json.endList();
output.send();
