extension Realm {
    /// Whether the Realm shows one version for ever.
    public var isFrozen: Bool { core.isFrozen }

    /// A Realm that shows the present version for ever, on every thread. It cannot be written to, refreshed or observed.
    /// Where others committed since this Realm was refreshed last, it refreshes first. Not in a write transaction.
    public func freeze() -> Realm { Realm(core: core.frozen()) }

    /// The same as ``ThreadConfined/freeze()`` of an object or a collection.
    public func freeze<Confined: ThreadConfined>(_ confined: Confined) -> Confined { confined.freeze() }

    /// The same as ``ThreadConfined/thaw()`` of an object or a collection.
    public func thaw<Confined: ThreadConfined>(_ confined: Confined) -> Confined? { confined.thaw() }

    /// A live Realm of the same configuration on the calling thread.
    public func thaw() -> Realm {
        guard isFrozen else { return self }
        do {
            return try Realm(configuration: configuration)
        } catch {
            programError("The Realm cannot be thawed. \(error)")
        }
    }
}
