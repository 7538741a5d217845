package ollama

import (
	"github.com/ollama/ollama/api"
)

// growable returns the largest context window that fits, 0 if none is larger.
func (k *known) growable(longest int, running []api.ProcessModelResponse, server serverFacts) int {
	if k.fixed {
		return 0
	}
	return k.step(longest, longest, running, server)
}

// step returns the context window to grow to for so many tokens, or the largest that fits
// if that one does not. It returns 0 if none does. A model whose own limit is not known
// does not grow.
func (k *known) step(tokens, longest int, running []api.ProcessModelResponse, server serverFacts) int {
	fitting := 0
	for window := k.info.ContextWindow; window < min(tokens, longest); {
		window = min(2*window, longest)
		if !k.fits(window, running, server) {
			break
		}
		fitting = window
	}
	return fitting
}

// fits reports whether the server is known to have the memory for the model with a
// larger context window.
//
// The server reports what each loaded model takes, but not how much is free. Its memory is
// taken to be the most that models have used there together, in earlier sessions too: two
// at once, or a larger one. A model that lies in the memory of GPUs must fit there, or it
// would become slow. If some program has already loaded the model with such a window, it
// fits. A token of context is estimated by the model's description, with values of 16
// bits. If the loaded model uses more memory beyond its weights, that counts. This errs on
// the large side.
func (k *known) fits(window int, running []api.ProcessModelResponse, server serverFacts) bool {
	perToken, weights := k.tokenBytes, k.info.Bytes
	m, loaded := runningModel(running, k.info.Name)
	if !loaded || m.ContextLength <= 0 || m.Size <= 0 {
		need := memoryFor(weights, perToken, window)
		memory := server.Memory
		if server.GPU > 0 {
			memory = server.GPU
		}
		return perToken > 0 && weights > 0 && need <= memory
	}
	if m.ContextLength >= window {
		return true
	}
	if weights > 0 {
		perToken = max(perToken, (m.Size-weights)/int64(m.ContextLength))
	}
	need := m.Size + int64(window-m.ContextLength)*perToken
	memory := server.Memory
	if m.SizeVRAM >= m.Size {
		memory = server.GPU
	}
	return perToken > 0 && need <= memory
}

// tokenBytes estimates the memory for a token of context: a key and a value of 16
// bits each for every layer and head. It returns 0 if the server does not describe
// the model.
func tokenBytes(shown *api.ShowResponse) int64 {
	architecture, _ := shown.ModelInfo["general.architecture"].(string)
	number := func(key string) int64 {
		n, _ := shown.ModelInfo[architecture+"."+key].(float64)
		return int64(n)
	}
	layers, heads, keyHeads := number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
	key, value := number("attention.key_length"), number("attention.value_length")
	if keyHeads == 0 {
		keyHeads = heads // some models list theirs by layer
	}
	if heads > 0 {
		length := number("embedding_length") / heads
		if key == 0 {
			key = length
		}
		if value == 0 {
			value = length
		}
	}
	const bytes = 2
	return layers * keyHeads * (key + value) * bytes
}
