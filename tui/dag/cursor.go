package dag

// cursor is the selection: the key of the selected row, which is the same in the list and in
// the graph.
type cursor struct {
	Key     string
	Follows bool   // it follows the running step
	asked   string // the step with a question at the last time it followed
}

// choose selects a row for the user, and stops following.
func (c *cursor) choose(key string) { c.Key, c.Follows = key, false }

// put selects a row, and follows on.
func (c *cursor) put(key string) { c.Key = key }

// follow sets whether it follows the running step.
func (c *cursor) follow(on bool) { c.Follows = on }

// followQuestion goes to the row of the step with a question, if it follows; asked is the
// index of the step, "" for none.
func (c *cursor) followQuestion(v *shownPlan, asked string) {
	c.asked = asked
	if !c.Follows {
		return
	}
	if key := v.followed(asked); key != "" {
		c.Key = key
	}
}

// knowsQuestion reports whether it last followed with this step as the one with a question.
func (c *cursor) knowsQuestion(asked string) bool { return c.asked == asked }
