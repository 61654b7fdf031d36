public import TomboloModel
internal import TomboloSyncProtocol

/// A model that changed: the session goes on with other classes, and its device notices nothing but what it may see now.
extension ServerSession {
    /// Begins nothing new from here on, until ``move(to:_:)``. What is under way goes on: a batch that is read, and the
    /// uploads that came.
    public mutating func hold() -> [Action] {
        isHeld = true
        return stopFollowing()
    }

    /// Whether nothing is under way any more that knows the positions of classes and columns.
    public var canMove: Bool {
        guard case .live = phase else { return false }
        return isHeld && following == .no && uploading.isEmpty && waitingChangesets.isEmpty
    }

    /// Whether messages of the device have to wait for the move.
    public var awaitsMove: Bool {
        guard case .live = phase else { return false }
        return isHeld
    }

    /// Goes on with other classes, which have everything that the device has, be it under other names. Only where
    /// ``canMove``.
    ///
    /// The device gets the difference between what it could see by the rules and classes so far and what it may see by
    /// the new ones, as of a new tick.
    /// - Parameter authority: about the new classes.
    public mutating func move(to schema: Schema, _ authority: SessionAuthority) -> [Action] {
        guard canMove else { return [] }
        let device: DeviceSchema
        do throws(SessionFailure) {
            device = try Self.deviceSchema(deviceClasses, in: schema)
        } catch {
            // Whoever connects again learns what is wrong, or is served with a newer model.
            return fail(
                SessionFailure(
                    .unavailable, "The server's model changed, and lacks what this device has: \(error.message)",
                    isRetryable: true))
        }
        let before = self.schema
        var former: [Int: Int] = [:]
        for index in before.classes.indices {
            if let now = schema.index(of: before[index].name) { former[now] = index }
        }
        let hadHidden = hidden(mask.hidden, in: before, by: former, on: schema)
        let hadHiddenLists = Set(former.filter { mask.hiddenLists.contains($0.value) }.keys)
        let formerly = self.authority
        visibility = Visibility(subscriptions: subscriptions, schema: schema) { index in
            former[index].flatMap { formerly?.readable($0) } ?? .constant(false)
        }
        self.schema = schema
        self.authority = authority
        deviceColumns = device.columns
        deviceNames = device.names
        mask = ColumnMask(
            hidden: authority.hidden, hiddenLists: hiddenLists(by: authority.readable), required: device.required)
        formerlyReadable = nil
        isHeld = false
        do throws(SessionFailure) {
            try check(waitingSubscriptions ?? subscriptions)
        } catch {
            return fail(error)
        }
        // In rows that the device keeps there are values that it may have no longer, or lacks.
        if hadHidden != onDevice(authority.hidden) || hadHiddenLists != mask.hiddenLists { needsEverything = true }
        return [startReading(from: tick)]
    }

    /// What the device said of its classes in hello, as far as the session still knows.
    var deviceClasses: [HelloClass] {
        deviceColumns.sorted { $0.key < $1.key }.map { index, columns in
            let item = schema[index]
            return HelloClass(
                name: deviceNames.classes[index] ?? item.name,
                columns: columns.map { position in
                    let column = item.columns[position]
                    let isRequired = mask.required[index]?.contains(position) == true
                    return "\(deviceNames.columns[index]?[position] ?? column.name): \(column.type.name)"
                        + (column.isOptional && !isRequired ? "?" : "")
                })
        }
    }

    /// Hidden columns at their positions in the new classes.
    private func hidden(
        _ columns: [Int: Set<Int>], in before: Schema, by former: [Int: Int], on schema: Schema
    ) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for (now, index) in former {
            let known = columns[index]?.intersection(deviceColumns[index] ?? []) ?? []
            let positions = known.compactMap { schema[now].columnIndex(before[index].columns[$0].name) }
            if !positions.isEmpty { result[now] = Set(positions) }
        }
        return result
    }

    func onDevice(_ columns: [Int: Set<Int>]) -> [Int: Set<Int>] {
        var result: [Int: Set<Int>] = [:]
        for (index, hidden) in columns {
            let known = hidden.intersection(deviceColumns[index] ?? [])
            if !known.isEmpty { result[index] = known }
        }
        return result
    }
}
