internal import TomboloSQLiteStore

extension RealmCore {
    /// A separate core at the newest version, to which this core moves too. It's reused for as long as something frozen
    /// is kept.
    func frozen() -> RealmCore {
        confinement.check()
        if isFrozen { return self }
        if isInWrite { programError("Cannot freeze a Realm in a write transaction: freeze it after the commit.") }
        if let known = lastFrozen, known.stamp == changeStamp, let core = known.core { return core }
        let core = reading { try frozenCopy() }
        if core.file.log.number != file.log.number { _ = refresh() }
        lastFrozen = FrozenCore(core: core, stamp: changeStamp)
        return core
    }
}

/// The last frozen core, for as long as it's kept alive.
struct FrozenCore {
    weak var core: RealmCore?
    /// The live core's version stamp at the time of freezing.
    let stamp: UInt64
}
