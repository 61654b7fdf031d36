internal import TomboloModel
internal import TomboloSyncProtocol

/// Stores subscriptions under the new names, so that the app recognises its own. Their versions stay, because they
/// still ask for the same objects.
extension SchemaRenaming {
    func renameSubscriptions(_ connection: SQLiteConnection, _ schema: Schema) throws {
        let codec = MessageCodec(schema: schema)
        let select = try connection.statement("SELECT version, subscriptions FROM tombolo_subscriptions")
        var changed: [SubscriptionSet] = []
        while try select.step() {
            let old = try codec.decodeSubscriptionSet(select.bytes(at: 1))
            let new = SubscriptionSet(version: old.version, subscriptions: old.subscriptions.map(renamed))
            let isReadable = codec.encode(new).count <= MessageCodec.maximumSubscriptionSetByteCount
            // A set that would be too long with the new names keeps the old ones, which the server also knows.
            if new != old, isReadable { changed.append(new) }
        }
        select.reset()
        for set in changed {
            let update = try connection.statement(
                "UPDATE tombolo_subscriptions SET subscriptions = ? WHERE version = ?")
            update.bind(bytes: codec.encode(set), at: 1)
            update.bind(set.version, at: 2)
            try update.run()
        }
    }

    private func renamed(_ subscription: Subscription) -> Subscription {
        var result = subscription
        result.className = classes[subscription.className] ?? subscription.className
        if let names = properties[subscription.className] { result.predicate = renamed(subscription.predicate, names) }
        return result
    }

    private func renamed(_ predicate: Predicate, _ names: [String: String]) -> Predicate {
        func path(_ path: PropertyPath) -> PropertyPath {
            guard let first = path.names.first, let new = names[first] else { return path }
            return PropertyPath([new] + path.names.dropFirst())
        }
        return switch predicate {
        case .constant: predicate
        case .compare(let property, let comparison, let value): .compare(path(property), comparison, value)
        case .isIn(let property, let values): .isIn(path(property), values)
        case .text(let property, let test, let text, let ignoringCase):
            .text(path(property), test, text, ignoringCase: ignoringCase)
        case .and(let parts): .and(parts.map { renamed($0, names) })
        case .or(let parts): .or(parts.map { renamed($0, names) })
        case .not(let inner): .not(renamed(inner, names))
        }
    }
}
