/// Calls a block on an actor. The caller must already be on that actor, as a Realm's deliveries are.
enum ActorCall {
    static func run<A: Actor, Value>(
        _ block: @escaping @Sendable (isolated A, Value) -> Void, _ value: Value, on actor: A
    ) {
        let box = Box(value: value)
        actor.assumeIsolated { block($0, box.value) }
    }

    /// Never leaves the actor.
    private struct Box<Value>: @unchecked Sendable {
        let value: Value
    }
}
