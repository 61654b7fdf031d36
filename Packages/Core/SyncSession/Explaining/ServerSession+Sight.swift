public import TomboloModel
internal import TomboloSyncProtocol

extension ServerSession {
    /// Whether the device should have an object, decided in the same way as for batches, and why not. Changes nothing.
    /// - Parameters:
    ///   - row: the object, in the column order of the session's schema.
    ///   - classIndex: the object's class. Can't be an element class: elements are visible wherever their owner is.
    public func sight(of row: Row, classIndex: Int) -> Sight {
        let isOnDevice = deviceColumns[classIndex] != nil
        let isOpen = isPastOpening
        let isVisible =
            isOpen && isOnDevice
            && visibility(of: subscriptions).includes(row, classIndex: classIndex, schema: schema)
        let isWanted =
            waitingSubscriptions.map {
                visibility(of: $0).includes(row, classIndex: classIndex, schema: schema)
            } ?? false
        guard isOpen else { return Sight(isVisible: false, obstacles: [.notOpen(state)], isWanted: isWanted) }
        var obstacles: [Sight.Obstacle] = isOnDevice ? [] : [.classNotOnDevice]
        if let miss = subscriptionObstacle(row, classIndex) { obstacles.append(miss) }
        if let obstacle = rulesObstacle(row, classIndex) { obstacles.append(obstacle) }
        return Sight(isVisible: isVisible, obstacles: obstacles, isWanted: isWanted)
    }

    private var isPastOpening: Bool {
        switch phase {
        case .reading, .live: true
        case .waiting, .authenticating, .opening, .verifying, .closed: false
        }
    }

    private func subscriptionObstacle(_ row: Row, _ classIndex: Int) -> Sight.Obstacle? {
        let item = schema[classIndex]
        let concerned = subscriptions.subscriptions.filter { schema.index(of: $0.className) == classIndex }
        guard !concerned.isEmpty else { return .notSubscribed }
        var misses: [Sight.Miss] = []
        for subscription in concerned {
            guard let failure = subscription.predicate.failure(of: row, of: item) else { return nil }
            misses.append(
                Sight.Miss(name: subscription.name, predicate: subscription.predicate, failure: failure))
        }
        return .notMatched(misses)
    }

    private func rulesObstacle(_ row: Row, _ classIndex: Int) -> Sight.Obstacle? {
        guard let authority else { return .notReadable(.constant(false)) }
        let item = schema[classIndex]
        guard let failure = authority.readable(classIndex).failure(of: row, of: item) else { return nil }
        if let partition = authority.partition {
            guard let column = partition.columns[classIndex] else { return .classWithoutPartition }
            if row[column] != partition.value {
                return .otherPartition(column: item.columns[column].name, partition: partition.value)
            }
        }
        return .notReadable(failure)
    }

    /// What keeps a property from the device, although the device has the object; nil if nothing does.
    /// - Parameter property: a column or list of the class, named as in the schema.
    public func obstacle(to property: String, classIndex: Int) -> PropertyObstacle? {
        if let list = schema.index(of: "\(schema[classIndex].name).\(property)") {
            guard deviceColumns[list] != nil else { return .notOnDevice }
            return mask.hiddenLists.contains(list) ? .hidden : nil
        }
        guard let column = schema[classIndex].columnIndex(property),
            deviceColumns[classIndex]?.contains(column) == true
        else { return .notOnDevice }
        return mask.hidden[classIndex]?.contains(column) == true ? .hidden : nil
    }
}
