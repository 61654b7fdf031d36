internal import TomboloChangesets
internal import TomboloModel

/// The workload and the faults.
extension Simulation {
    func operate() {
        guard operationsLeft > 0 else { return heal() }
        operationsLeft -= 1
        let device = random.pick(devices)
        switch random.below(100) {
        case 0..<46: if device.isUp { write(device) }
        case 46..<66: startSQL(Workload.statements(&random))
        case 66..<69:
            hit(.longTransaction)
            startSQL(
                Workload.statements(&random) + [.pause(100 + random.below(1500))]
                    + Workload.statements(&random))
        case 69..<73: insertFamily()
        case 73..<77:
            hit(.subscriptionsChanged)
            if device.isUp { changeSubscriptions(device) }
        case 77..<83:
            if let connection = device.connection {
                hit(.connectionDropped)
                log("the connection of device \(device.id) drops")
                close(connection)
            }
        case 83..<86: if device.isUp { crash(device) }
        case 86..<88:
            let gateway = random.pick(gateways)
            if gateway.isUp { crash(gateway) }
        case 88: if isSequencerUp { crashSequencer() }
        case 89..<91:
            if isDatabaseUp { crashDatabase() }
        case 91:
            hit(.clockJump)
            device.skew = skew()
        case 92..<94:
            let floor = database.latest.number - Int64(random.below(4))
            if isDatabaseUp, floor > database.floor {
                hit(.retention)
                log("ticks below \(floor) are dropped")
                database.drop(below: floor)
            }
        case 94:
            let user = device.user
            roles[user] += 1
            hit(.rolesChanged)
            log("roles of user \(user) change")
            schedule(.authority(user: user), in: random.below(50))
        case 95: if !hasCopied { copy(device) }
        case 96, 97:
            device.connection?.delay = random.pick([40, 80])
        default: crashAtNamedPoint()
        }
        schedule(.operation, in: 3 + random.below(random.chance(percent: 20) ? 200 : 30))
    }

    /// Inserts a parent and, after its commit, a child: no device may have the child without the parent.
    private func insertFamily() {
        let parent = SimulatedSchema.item(random.below(Workload.itemCount))
        let child = SimulatedSchema.item(random.below(Workload.itemCount))
        guard parent != child else { return }
        func row(_ reference: ObjectReference, _ parent: Value) -> Row {
            Row([
                reference.key, Workload.title(&random), .int(Int64(random.below(4))), .null, .int(0), parent,
            ])
        }
        startSQL([.insert(parent, row(parent, .null))], then: [[.insert(child, row(child, parent.key))]])
    }

    private func copy(_ device: SimulatedDevice) {
        hasCopied = true
        hit(.fileCopied)
        let copy = SimulatedDevice(id: devices.count, user: device.user, store: device.store.copy())
        copy.skew = device.skew
        copy.nextSet = device.nextSet
        copy.lastTick = device.lastTick
        devices.append(copy)
        log("the file of device \(device.id) is copied to device \(copy.id)")
        schedule(.start(copy, life: 0), in: random.below(2000))
    }

    /// Crashes whatever is at a named point right now, if anything.
    private func crashAtNamedPoint() {
        if let device = devices.first(where: { $0.isUp && ($0.store.stagedCount > 0 || $0.isStoreBusy) }),
            random.chance(percent: 50)
        {
            crash(device)
        } else if isDatabaseUp, runningUploads.contains(where: { $0.procedure.isReadyToCommit }) {
            crashDatabase()
        }
    }

    private func heal() {
        guard !isHealed else { return }
        isHealed = true
        healedAt = now
        log("faults end")
        for gateway in gateways where !gateway.isUp { schedule(.bootGateway(gateway), in: 1) }
        bootDatabase()
        for device in devices { device.connection?.delay = 2 }
        if !isSequencerUp { schedule(.bootSequencer, in: 1) }
        schedule(.checkQuiet, in: 200)
    }
}
