public import Foundation
public import Tombolo
internal import TomboloModel

/// The objects of a class that a view lists. Opens the Realm on first use, reports when the results change, and has a
/// frozen copy for rendering. Used on the main actor, like views.
///
///     let dogs = ObservedQuery<Dog>(QueryTerms(condition: .matching { $0.age > 3 }))
///     dogs.willChange = { list.setNeedsReload() }
///     for dog in dogs.shown { … }
@MainActor
public final class ObservedQuery<Element: Object> {
    /// Called when the results are about to change or have changed. Read ``shown`` again afterwards, not during the
    /// call.
    public var willChange: (@MainActor () -> Void)?

    private var declared: QueryTerms
    private var terms: QueryTerms
    /// The configuration for terms that don't have one.
    private var environment: Realm.Configuration?
    private var search: Filter?
    private var live: Results<Element>?
    private var token: NotificationToken?
    /// Kept so that everything frozen in one version shares a connection to the file.
    private var snapshot: Results<Element>?

    public init(_ terms: QueryTerms = QueryTerms()) {
        declared = terms
        self.terms = terms
    }

    // MARK: Terms

    /// Adopts what the view declares now. Changes made since then are kept for as long as the declaration stays the
    /// same.
    public func declare(_ terms: QueryTerms, environment: Realm.Configuration?) {
        if terms.configuration == nil, environment != self.environment { reset() }
        self.environment = environment
        guard terms != declared else { return }
        declared = terms
        self.terms = terms
        reset()
    }

    /// The condition that selects the objects; see ``QueryTerms/Condition``.
    public var condition: QueryTerms.Condition {
        get { terms.condition }
        set { change { $0.terms.condition = newValue } }
    }

    /// The order, most significant first. Empty for the order of the file.
    public var sortDescriptors: [Tombolo.SortDescriptor] {
        get { terms.sortDescriptors }
        set { change { $0.terms.sortDescriptors = newValue } }
    }

    /// In addition to the condition, shows only objects whose property contains `text`. An empty string shows all
    /// objects. The search is case-sensitive.
    public func search(_ text: String, _ keyPath: KeyPath<Element, String>) {
        let filter = text.isEmpty ? nil : Query<Element>.filter { $0[dynamicMember: keyPath].contains(text) }
        if filter != search { change { $0.search = filter } }
    }

    private func change(_ body: (ObservedQuery<Element>) -> Void) {
        willChange?()
        body(self)
        reset()
    }

    private func reset() {
        token = nil
        live = nil
    }

    // MARK: Results

    /// The live results. Stops the program if the Realm can't be opened or the condition's text can't be parsed.
    public var results: Results<Element> {
        let results = live ?? found()
        live = results
        if token == nil { watch(results) }
        return results
    }

    /// Begins observing, unless the Realm is in a write transaction, where nothing can be observed.
    private func watch(_ results: Results<Element>) {
        guard let realm = results.realm, !realm.isInWriteTransaction else { return }
        let start = VersionMark(realm)
        token = results.observe(keyPaths: terms.keyPaths) {
            [weak self] (change: RealmCollectionChange<Results<Element>>) in
            if case .initial = change, !start.isOutdated(realm) { return }
            Snapshots.tell { [weak self] in self?.willChange?() }
        }
    }

    /// What to render: a frozen copy of the results.
    public var shown: Results<Element> {
        let results = results
        let frozen = Snapshots.freeze(results) ?? results
        snapshot = frozen
        return frozen
    }

    private func found() -> Results<Element> {
        let configuration = terms.configuration ?? environment ?? .defaultConfiguration
        let realm: Realm
        do {
            realm = try Realm(configuration: configuration)
        } catch {
            fatalError("Can't open the Realm of a view that shows \(Element.self) objects. \(error)")
        }
        var results = terms.condition.apply(to: realm.objects(Element.self))
        if let search { results = results.filter(search) }
        if !terms.sortDescriptors.isEmpty { results = results.sorted(by: terms.sortDescriptors) }
        return results
    }

    // MARK: Writing

    /// Adds an object to the Realm. If an object with its primary key exists, that object is updated. A frozen object
    /// is thawed. The object appears in the results if it satisfies their condition.
    public func append(_ object: Element) {
        ImplicitWrite.change(results) { results in
            guard let realm = results.realm, let object = ImplicitWrite.thawed(object), !object.isInvalidated else {
                return
            }
            if object.realm == realm { return }
            realm.add(object, update: ObjectClass.of(Element.self).schema.primaryKey != nil ? .modified : .error)
        }
    }

    /// Deletes an object from the Realm if it's in the results.
    public func remove(_ object: Element) { delete([object]) }

    /// Deletes the objects that were shown at these positions.
    public func remove(atOffsets offsets: IndexSet) {
        let shown = snapshot ?? shown
        delete(offsets.filter { $0 < shown.count }.map { shown[$0] })
    }

    func delete(_ objects: [Element]) {
        ImplicitWrite.change(results) { results in
            let live = objects.filter { $0.realm != nil && !$0.isInvalidated }.compactMap(ImplicitWrite.thawed)
            for object in live where !object.isInvalidated && results.index(of: object) != nil {
                results.realm?.delete(object)
            }
        }
    }
}
