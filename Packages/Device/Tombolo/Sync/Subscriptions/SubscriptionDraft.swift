internal import TomboloModel
internal import TomboloSQLiteStore
internal import TomboloSyncProtocol

/// The content of a ``SyncSubscriptionSet``, and the changes made in its update.
final class SubscriptionDraft {
    /// Changes a set, or returns why it can't be changed.
    typealias Edit = (inout SubscriptionFile.Kept, Schema) -> String?

    private let schema: Schema
    private(set) var content: SubscriptionFile.Kept
    /// Nil outside an update.
    private var edits: [Edit]?
    private var problem: String?

    init(_ content: SubscriptionFile.Kept, schema: Schema) {
        self.content = content
        self.schema = schema
    }

    /// Runs an update's block. The set shows the block's changes at once.
    /// - Returns: a function that makes the same changes to another version of the set.
    /// - Throws: ``Realm/Error`` if a change can't be made.
    func collect(_ block: () throws -> Void) throws -> (SubscriptionFile.Kept) throws -> SubscriptionFile.Kept {
        guard edits == nil else { programError("Subscription updates cannot be nested.") }
        let before = content
        edits = []
        defer {
            edits = nil
            problem = nil
        }
        do {
            try block()
        } catch {
            content = before
            throw error
        }
        if let problem {
            content = before
            throw Realm.Error(.subscriptionFailed, problem)
        }
        let (made, after, schema) = (edits ?? [], content, schema)
        content = before
        return { newest in
            // Others may have changed the set since it was read.
            var changed = newest
            if newest.set == before.set {
                changed = after
            } else {
                for edit in made {
                    if let problem = edit(&changed, schema) { throw Realm.Error(.subscriptionFailed, problem) }
                }
            }
            do throws(ValueError) {
                try changed.set.check(in: schema)
            } catch {
                throw Realm.Error(.subscriptionFailed, error.message)
            }
            return changed
        }
    }

    func edit(_ body: @escaping Edit) {
        guard edits != nil else { programError("Subscriptions can only be changed inside subscriptions.update {}.") }
        guard problem == nil else { return }
        problem = body(&content, schema)
        edits?.append(body)
    }

    func show(_ content: SubscriptionFile.Kept) { self.content = content }
}
