package agent

import "replan/planning/plan"

// argsRequest is the model's work on args that the plan leaves out.
type argsRequest struct {
	missing []string       // args that the tool requires
	args    map[string]any // written by the model; nil until then
	asking  bool           // requested from the model
	problem string         // why the model did not write them
	refused string         // the arguments that the tool refused, and why; the model writes them once more
}

// lacks notes the args that the tool requires and the plan leaves out.
func (r *argsRequest) lacks(args []string) { r.missing = args }

// lacking returns the args that no model has written yet, and why the model that was asked did
// not; no names if all are there.
func (r *argsRequest) lacking() (names []string, problem string) {
	if r.args != nil {
		return nil, ""
	}
	return r.missing, r.problem
}

// ask notes that the missing args are requested from the model.
func (r *argsRequest) ask() { r.asking = true }

// asks reports whether the model is writing the missing args.
func (r *argsRequest) asks() bool { return r.asking }

// stop notes that the request to the model has ended.
func (r *argsRequest) stop() { r.asking = false }

// take takes the args that the model wrote.
func (r *argsRequest) take(args map[string]any) { r.args, r.problem = args, "" }

// written returns the args that the model wrote, nil until then.
func (r *argsRequest) written() map[string]any { return r.args }

// fail notes why the model did not write the args.
func (r *argsRequest) fail(problem string) { r.problem = problem }

// refuse has the model asked once more for args that cannot be meant. A second time, the step
// lacks them for that reason.
func (r *argsRequest) refuse(args map[string]any, why string) {
	if r.problem = ""; !r.note(args, why) {
		r.problem = why
	}
}

// refill has the model asked once more for args that the tool refused. It reports false if it
// wrote none, or was asked already.
func (r *argsRequest) refill(why string) bool {
	if r.args == nil || !r.note(r.args, why) {
		return false
	}
	r.args = nil
	return true
}

// note records refused arguments, which the model writes once more. It reports false if it has
// already done so for some of them.
func (r *argsRequest) note(args map[string]any, why string) bool {
	if r.refused != "" {
		return false
	}
	r.refused = plan.CanonicalJSON(args) + "\n" + why
	return true
}

// refusal returns the arguments that were refused, and why; "" if none were.
func (r *argsRequest) refusal() string { return r.refused }

// retry lets the model that was asked be asked again.
func (r *argsRequest) retry() { r.problem = "" }

// forget does the same, and forgets what the model wrote.
func (r *argsRequest) forget() { r.args, r.problem = nil, "" }

// replace notes that another author writes the args; missing are those that a model would still
// write.
func (r *argsRequest) replace(missing []string) { r.args, r.missing = nil, missing }
