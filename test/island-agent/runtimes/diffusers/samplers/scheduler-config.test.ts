import { describe, expect, it } from "vitest";
import { DdimSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/ddim-sampler.ts";
import { EulerSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/euler-sampler.ts";
import { LcmSampler } from "../../../../../island-agent/runtimes/diffusers/samplers/lcm-sampler.ts";
import { readSchedulerConfig } from "../../../../../island-agent/runtimes/diffusers/samplers/scheduler-config.ts";

/** The published file of Stable Diffusion 1.5, including fields that are ignored. */
const SD15 = {
  _class_name: "PNDMScheduler",
  _diffusers_version: "0.6.0",
  beta_end: 0.012,
  beta_schedule: "scaled_linear",
  beta_start: 0.00085,
  num_train_timesteps: 1000,
  set_alpha_to_one: false,
  skip_prk_steps: true,
  steps_offset: 1,
  trained_betas: null,
  clip_sample: false,
};

describe("readSchedulerConfig()", () => {
  it.each([
    ["EulerDiscreteScheduler", EulerSampler],
    ["DDIMScheduler", DdimSampler],
    ["LCMScheduler", LcmSampler],
    ["PNDMScheduler", DdimSampler],
    ["DPMSolverMultistepScheduler", EulerSampler],
  ])("supports %s", (className, sampler) => {
    const plan = readSchedulerConfig({ ...SD15, _class_name: className });
    expect(plan.create(4)).toBeInstanceOf(sampler);
    expect(plan.className).toBe(className);
  });

  it("uses the class's defaults for spacing and clipping", () => {
    const training = (className: string) => readSchedulerConfig({ _class_name: className }).training;
    expect(training("EulerDiscreteScheduler")).toMatchObject({ grid: { spacing: "linspace", offset: 0 }, clip: null });
    expect(training("DDIMScheduler")).toMatchObject({ grid: { spacing: "leading" }, clip: 1, prediction: "epsilon" });
  });

  it("reads the fields of the file", () => {
    const { training, maxSteps } = readSchedulerConfig({
      ...SD15,
      _class_name: "DDIMScheduler",
      prediction_type: "v_prediction",
      timestep_spacing: "trailing",
      clip_sample: true,
      clip_sample_range: 2,
      num_train_timesteps: 100,
    });
    expect(training).toMatchObject({ prediction: "v_prediction", clip: 2, grid: { spacing: "trailing", count: 100 } });
    expect(training.alphasCumprod).toHaveLength(100);
    expect(maxSteps).toBe(100);
  });

  it("accepts listed betas", () => {
    const { training } = readSchedulerConfig({ _class_name: "DDIMScheduler", trained_betas: [0.5, 0.5] });
    expect([...training.alphasCumprod]).toEqual([0.5, 0.25]);
  });

  it("limits the steps of a consistency model to those it was distilled from", () => {
    expect(readSchedulerConfig({ ...SD15, _class_name: "LCMScheduler", original_inference_steps: 40 }).maxSteps).toBe(
      40,
    );
  });

  it("ends DDIM with the first training noise if set_alpha_to_one is false", () => {
    const endOf = (set_alpha_to_one: boolean): number => {
      const plan = readSchedulerConfig({ ...SD15, _class_name: "DDIMScheduler", set_alpha_to_one });
      // The input is only noise, at timestep 1, which is the only step.
      const latents = Float32Array.of(Math.sqrt(1 - plan.training.alphasCumprod[1]!));
      return plan.create(1).advance(latents, Float32Array.of(1), 0, () => latents)[0]!;
    };
    expect(endOf(true)).toBeCloseTo(0, 6);
    expect(endOf(false)).toBeCloseTo(0.0292, 4);
  });

  it.each([
    [{ _class_name: "FlowMatchHeunDiscreteScheduler" }, "FlowMatchHeunDiscreteScheduler is not supported"],
    [{ _class_name: "FlowMatchEulerDiscreteScheduler", invert_sigmas: true }, "invert_sigmas"],
    [{ _class_name: "FlowMatchEulerDiscreteScheduler", time_shift_type: "linear" }, "time_shift_type"],
    [
      { _class_name: "FlowMatchEulerDiscreteScheduler", use_dynamic_shifting: true, max_image_seq_len: 256 },
      "max_image_seq_len",
    ],
    [{ _class_name: "toString" }, "toString is not supported"],
    [{}, "_class_name"],
    [{ ...SD15, beta_schedule: "sigmoid" }, "beta_schedule"],
    [{ ...SD15, prediction_type: "flow" }, "prediction_type"],
    [{ ...SD15, beta_end: 2 }, "beta_end"],
    [{ ...SD15, rescale_betas_zero_snr: true }, "rescale_betas_zero_snr"],
    [{ ...SD15, thresholding: true }, "thresholding"],
    [{ ...SD15, num_train_timesteps: 1e9 }, "num_train_timesteps"],
    ["text", "expected object"],
  ])("refuses %j as model_invalid, and names the field", (content, named) => {
    expect(() => readSchedulerConfig(content)).toThrow(
      expect.objectContaining({ code: "model_invalid", retryable: false, message: expect.stringContaining(named) }),
    );
    expect(() => readSchedulerConfig(content)).toThrow("scheduler/scheduler_config.json: ");
  });
});
