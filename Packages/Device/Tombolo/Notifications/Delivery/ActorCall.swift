/// Calls back on an actor that the caller is on already, as a Realm's deliveries are.
enum ActorCall {
    static func run<A: Actor, Value>(
        _ block: @escaping @Sendable (isolated A, Value) -> Void, _ value: Value, on actor: A
    ) {
        let box = Box(value: value)
        actor.assumeIsolated { block($0, box.value) }
    }

    /// Does not leave the actor.
    private struct Box<Value>: @unchecked Sendable {
        let value: Value
    }
}
