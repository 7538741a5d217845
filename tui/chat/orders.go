package chat

// mostOrders is how many orders have a key.
const mostOrders = 3

// orders are what a refusal offers while it is the newest entry of the chat: orders near to
// what was not understood. A key or a click gives one.
type orders struct {
	chat  *viewport
	block *Block   // shows the newest refusal, nil for none
	texts []string // the orders; none once one is given
	again string   // the refused goal, to be sent again once there is a model; "" for none
}

// Remedy is what a key does about a missing model. The zero value does nothing.
type Remedy struct {
	Pull     string // pulls this model; "" for none
	Start    bool   // starts the model server
	Starting bool   // the server is being started, which the key cancels
	Log      string // the file with the output of the server that was started; "" for none
}

// offers reports whether the key does anything.
func (r Remedy) offers() bool { return r.Pull != "" || r.Start || r.Starting }

// await has a refused goal sent again once there is a model; "" has none.
func (o *orders) await(goal string) { o.again = goal }

// awaited returns the refused goal that waits for a model, "" for none.
func (o *orders) awaited() string { return o.again }

// offer notes that a block shows a refusal with these orders.
func (o *orders) offer(b *Block, texts []string) {
	if o.block != nil {
		o.block.change() // its keys are those of the new one
	}
	o.block, o.texts = b, texts[:min(len(texts), mostOrders)]
}

// open reports whether the newest entry of the chat is a refusal.
func (o *orders) open() bool { return o.block != nil && o.chat.endsIn(o.block) }

// count returns how many orders the newest entry of the chat offers.
func (o *orders) count() int {
	if !o.open() {
		return 0
	}
	return len(o.texts)
}

// shows reports whether a block is a refusal that is the newest entry of the chat.
func (o *orders) shows(b *Block) bool { return o.block == b && o.open() }

// take returns an order, and withdraws all of them.
func (o *orders) take(at int) string {
	text := o.texts[at]
	o.block.change()
	o.texts = nil
	return text
}
