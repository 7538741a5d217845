package ollamatest

import (
	"encoding/json"
	"net/http"
	"slices"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// pull plays the scripted pull of a model and installs it.
func (s *Server) pull(w http.ResponseWriter, r *http.Request) {
	var req api.PullRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	at := slices.IndexFunc(s.script.Pulls, func(p Pull) bool { return prompt.SameModel(p.Model.Name, req.Model) })
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	send := func(line any) {
		_ = lines.Encode(line) // the client may be gone
		_ = http.NewResponseController(w).Flush()
	}
	if at < 0 {
		send(PullStep{Status: "pulling manifest"})
		send(map[string]string{"error": "pull model manifest: file does not exist"})
		return
	}
	pull := s.script.Pulls[at]
	if pull.Status != 0 {
		writeError(w, pull.Status, pull.Error)
		return
	}
	for _, step := range pull.Steps {
		send(step)
	}
	if pull.Hold != nil {
		select {
		case <-pull.Hold:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case pull.Error != "":
		send(map[string]string{"error": pull.Error})
	case !pull.Cut:
		s.install(pull.Model.withDefaults())
		send(PullStep{Status: "success"})
	}
}

// install adds a model, or replaces the one of that name.
func (s *Server) install(m Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = slices.DeleteFunc(slices.Clone(s.models), func(old Model) bool { return prompt.SameModel(old.Name, m.Name) })
	s.models = slices.Insert(s.models, 0, m) // the newest first, like Ollama
}

// remove deletes a model.
func (s *Server) remove(w http.ResponseWriter, r *http.Request) {
	var req api.DeleteRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if _, ok := s.find(req.Model); !ok {
		writeError(w, http.StatusNotFound, notFound(req.Model))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = slices.DeleteFunc(slices.Clone(s.models), func(m Model) bool { return prompt.SameModel(m.Name, req.Model) })
	w.WriteHeader(http.StatusOK)
}
