package one

type pointer struct{ *Queue }

func (p pointer) double() int { return 2 * p.Len() } // fault: double only adds methods to Queue

type value struct{ Queue }

func (v *value) double() int { return 2 * v.Len() } // fault: double only adds methods to Queue

type taken Queue // fault: taken takes over the fields of Queue

type alias = Queue

type asks struct{ queue *Queue }

func (a asks) double() int { return 2 * a.queue.Len() }

type counted struct {
	*Queue
	count int
}

func (c *counted) add() { c.count += c.Len() }
