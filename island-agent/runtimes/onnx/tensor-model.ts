import path from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { JobFailure } from "../../../shared/errors.ts";
import type { TensorJson } from "../../../shared/onnx-task.ts";
import type { HostedModel } from "../host/serve-host.ts";
import { gpuMemoryOf, LOG_FATAL_ONLY, providersFor } from "./execution-providers.ts";
import type { LoadRequest } from "./host-requests.ts";
import { breaksSession, onnxFailure } from "./onnx-failure.ts";
import type { OnnxJob, TensorsInput } from "./onnx-input.ts";
import { readFeeds, slotsOf, type TensorFeed, type TensorSlot } from "./tensor-feeds.ts";
import { elementsToJson } from "./tensor-json.ts";
import { findWeights } from "./weight-files.ts";

/** Maximum number of elements of all outputs together, which take about 40 MB as JSON. */
const MAX_ELEMENTS = 2_000_000;

/** Loads one graph that takes and returns raw tensors. @throws {JobFailure} */
export async function loadTensorModel(request: LoadRequest): Promise<HostedModel<OnnxJob>> {
  const { modelPath, threads, device } = request;
  const { format, graphs, bytes } = await findWeights(modelPath, request.weights);
  const graph = graphs.find((file) => path.basename(file).startsWith("model")) ?? graphs[0];
  if (graph === undefined || (graphs.length > 1 && !path.basename(graph).startsWith("model"))) {
    throw new JobFailure("model_invalid", "The model has several graphs, but no model.onnx");
  }
  const providers = await providersFor(device);
  const open = (): Promise<InferenceSession> =>
    InferenceSession.create(graph, {
      executionProviders: providers,
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: LOG_FATAL_ONLY,
    }).catch((error: unknown) => {
      throw onnxFailure("model_invalid", "ONNX Runtime refused the model", error, modelPath);
    });
  let session = await open();
  const inputs = slotsOf(session.inputMetadata);
  const outputs = slotsOf(session.outputMetadata);

  return {
    facts: { task: null, weights: format, providers, threads },
    gpuMemory: gpuMemoryOf(providers, bytes),
    async run({ job }) {
      const feeds = readFeeds(inputs, job as TensorsInput);
      const results = await session
        .run(Object.fromEntries(feeds.map((feed) => [feed.name, tensorOf(feed)])))
        .catch(async (error: unknown) => {
          if (breaksSession(error)) {
            const fresh = await open();
            await session.release();
            session = fresh;
          }
          throw onnxFailure("invalid_input", "The model rejected these tensors", error, modelPath);
        });
      const output = { outputs: outputsToJson(outputs, results) };
      return { output, finishReason: "stop", usage: { promptTokens: 0, completionTokens: 0 } };
    },
    dispose: () => session.release(),
  };
}

function tensorOf({ type, dims, data }: TensorFeed): Tensor {
  const tensor = new Tensor(type, data, [...dims]);
  // onnxruntime-node 1.30 stores float16 as a Float16Array where Node has it, and then cannot read it.
  return type === "float16" ? Object.assign(tensor, { cpuData: data }) : tensor;
}

/** @throws {JobFailure} `output_too_large` */
function outputsToJson(slots: readonly TensorSlot[], results: InferenceSession.ReturnType): Record<string, TensorJson> {
  const tensors = slots.map((slot) => ({ ...slot, tensor: results[slot.name] }));
  const count = tensors.reduce((sum, { tensor }) => sum + (tensor?.size ?? 0), 0);
  if (count > MAX_ELEMENTS) {
    throw new JobFailure(
      "output_too_large",
      `The outputs have ${count} elements, but at most ${MAX_ELEMENTS} are allowed`,
    );
  }
  return Object.fromEntries(
    tensors.map(({ name, type, tensor }) => {
      if (tensor === undefined) throw new Error(`the model returned no ${name}`);
      const data = elementsToJson(type, tensor.data);
      return [name, { type, dims: [...tensor.dims], data }];
    }),
  );
}
