internal import Tombolo

/// An object or list that a view shows. Reports when it changes, and has a frozen copy for rendering and the live value
/// for writing. Used on the main actor, like views.
///
///     let dog = ObservedValue(dog)
///     dog.willChange = { view.setNeedsRedraw() }
///     print(dog.shown.name)
@MainActor
public final class ObservedValue<Value: Watchable> {
    /// Called when the shown value is about to change or has changed. Read ``shown`` again afterwards, not during the
    /// call.
    public var willChange: (@MainActor () -> Void)?

    private let keyPaths: [String]?
    private var given: Value
    private var held: Value
    private var token: NotificationToken?
    /// Kept so that everything frozen in one version shares a connection to the file.
    private var snapshot: Value?
    private lazy var placeholder = Value._placeholder()

    /// - Parameters:
    ///   - value: an unmanaged, live or frozen object or list.
    ///   - keyPaths: the properties whose changes count; nil for all. See `observe(keyPaths:)`.
    public init(_ value: Value, keyPaths: [String]? = nil) {
        self.keyPaths = keyPaths
        given = value
        held = ImplicitWrite.thawed(value) ?? value
    }

    /// The live object or list, or the unmanaged one. Setting it replaces what is observed.
    public var value: Value {
        get { held }
        set {
            willChange?()
            hold(newValue)
        }
    }

    /// What to render: a frozen copy. An unmanaged value is shown as it is, and a deleted value as an empty new one.
    public var shown: Value {
        watch()
        guard held.realm != nil else { return held }
        guard let frozen = Snapshots.freeze(held) else {
            snapshot = nil
            return placeholder
        }
        snapshot = frozen
        return frozen
    }

    /// Observes what a parent view passes now. Does nothing if that is the same object, whatever its version.
    public func follow(_ value: Value) {
        if value === given { return }
        let live = ImplicitWrite.thawed(value) ?? value
        if !held.isInvalidated, live._isSame(as: held) { given = value } else { hold(value) }
    }

    /// Reports a change of an unmanaged value, which can't be observed.
    func changing() { if held.realm == nil { willChange?() } }

    private func hold(_ value: Value) {
        token = nil
        given = value
        held = ImplicitWrite.thawed(value) ?? value
        watch()
    }

    /// Begins observing as soon as the value is managed. An unmanaged value may be added to a Realm at any time.
    private func watch() {
        guard token == nil, let realm = held.realm, !realm.isFrozen, !held.isInvalidated,
            !realm.isInWriteTransaction
        else { return }
        let start = VersionMark(realm)
        // Freezing moved the Realm to the newest version.
        guard !held.isInvalidated else { return }
        token = held._watch(keyPaths) { [weak self] change in self?.noticed(change, start) }
    }

    private func noticed(_ change: WatchedChange, _ start: VersionMark) {
        if change == .began, !start.isOutdated(held.realm) { return }
        Snapshots.tell { [weak self] in self?.willChange?() }
    }
}
