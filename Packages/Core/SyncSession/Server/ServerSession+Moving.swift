public import TomboloModel
internal import TomboloSyncProtocol

/// Changes of the model. The session continues with other classes, and its device notices only the changes in what it
/// may see.
extension ServerSession {
    /// Starts nothing new until ``move(to:_:)``. Work in progress continues: a batch that is being read, and uploads
    /// that have already arrived.
    public mutating func hold() -> [Action] {
        isHeld = true
        return stopFollowing()
    }

    /// Whether nothing that depends on the positions of classes and columns is still in progress.
    public var canMove: Bool {
        guard case .live = phase else { return false }
        return isHeld && following == .no && uploading.isEmpty && waitingChangesets.isEmpty
    }

    /// Whether messages from the device must wait for the move.
    public var awaitsMove: Bool {
        guard case .live = phase else { return false }
        return isHeld
    }

    /// Continues with other classes. They include everything that the device has, perhaps under other names. Allowed
    /// only if ``canMove`` is true.
    ///
    /// The device gets the difference between what it could see under the old rules and classes and what it can see
    /// under the new ones, as of a new tick.
    /// - Parameter authority: the authority for the new classes.
    public mutating func move(to schema: Schema, _ authority: SessionAuthority) -> [Action] {
        guard canMove else { return [] }
        let device: DeviceSchema
        do throws(SessionFailure) {
            device = try Self.deviceSchema(deviceClasses, in: schema)
        } catch {
            // A device that connects again learns what is wrong, or is served with a newer model.
            return fail(
                SessionFailure(
                    .unavailable,
                    "The server's model changed and no longer has everything this device uses: \(error.message)",
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
        // Rows that the device keeps have values that it may no longer have, or lack values that it may have now.
        if hadHidden != onDevice(authority.hidden) || hadHiddenLists != mask.hiddenLists { needsEverything = true }
        return [startReading(from: tick)]
    }

    /// The device's classes as described in its hello, as far as the session still knows them.
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

    /// The hidden columns, at their positions in the new classes.
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
