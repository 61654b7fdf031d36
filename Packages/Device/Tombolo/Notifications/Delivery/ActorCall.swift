/// Calls back on an actor that the caller is already on, as in a Realm's deliveries.
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
