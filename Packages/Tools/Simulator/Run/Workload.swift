internal import Foundation
internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol

/// The random actions of devices and other services.
enum Workload {
    static let forbiddenTitle = "forbidden"
    static let vaultCount = 3
    static let vaultStart: Int64 = 100
    static let itemCount = 9

    private typealias S = SimulatedSchema

    static func title(_ random: inout SimulatorRandom) -> Value {
        if random.chance(percent: 4) { return .string("taken \(random.below(2))") }
        return .string("title \(random.below(1_000_000))")
    }

    static func note(_ random: inout SimulatorRandom) -> Value {
        random.chance(percent: 30) ? .null : .string("note \(random.below(1000))")
    }

    /// A local write transaction on the device's current content.
    static func instructions(
        _ rows: [ObjectReference: Row], _ random: inout SimulatorRandom
    ) -> [Instruction] {
        var shown = rows.filter { $0.key.classIndex == S.item }
        var result: [Instruction] = []
        for _ in 0...(random.chance(percent: 25) ? 2 : 0) {
            let step = self.step(shown, rows, &random)
            for instruction in step {
                switch instruction {
                case .create(let reference, let fields) where reference.classIndex == S.item:
                    shown[reference] = row(reference, fields)
                case .erase(let reference): shown[reference] = nil
                default: break
                }
            }
            result += step
        }
        if random.chance(percent: 35) {
            result.append(
                .add(S.vault(random.below(vaultCount)), column: S.Vault.hits, amount: Int64(1 + random.below(9))))
        }
        return result
    }

    static func row(_ reference: ObjectReference, _ fields: [FieldWrite]) -> Row {
        var row = Row([reference.key, .string(""), .int(0), .null, .int(0), .null])
        for field in fields { row[field.column] = field.value }
        return row
    }

    private static func step(
        _ shown: [ObjectReference: Row], _ rows: [ObjectReference: Row], _ random: inout SimulatorRandom
    ) -> [Instruction] {
        let keys = shown.keys.sorted(by: S.precedes)
        let choice = random.below(100)
        if choice < 22 || keys.isEmpty {
            let reference = S.item(random.below(itemCount))
            if shown[reference] == nil { return [create(reference, keys, &random)] }
        }
        guard !keys.isEmpty else { return [create(S.item(random.below(itemCount)), keys, &random)] }
        let reference = random.pick(keys)
        switch choice {
        case ..<56: return [.set(reference, fields(reference, keys, &random))]
        case ..<72: return [.add(reference, column: S.Item.count, amount: Int64(1 + random.below(5)))]
        case ..<82: return [.erase(reference)]
        case ..<84: return [.set(reference, [FieldWrite(column: S.Item.title, value: .string(forbiddenTitle))])]
        case ..<94:
            let target = S.item(random.below(itemCount))
            // Like `list.append(Item())`: the element comes before its target.
            guard shown[target] == nil, random.chance(percent: 50) else {
                return [element(of: reference, random.pick(keys), &random)]
            }
            return [element(of: reference, target, &random), create(target, keys, &random)]
        default:
            let elements = rows.keys.filter { $0.classIndex == S.link }.sorted(by: S.precedes)
            guard !elements.isEmpty else { return [] }
            let element = random.pick(elements)
            guard shown[ObjectReference(classIndex: S.item, key: rows[element]?[ElementColumn.owner] ?? .null)] != nil
            else { return [] }
            if random.chance(percent: 50) { return [.erase(element)] }
            let rank = FieldWrite(column: ElementColumn.rank, value: .string("s\(random.below(10))"))
            return [.set(element, [rank])]
        }
    }

    private static func element(
        of owner: ObjectReference, _ target: ObjectReference, _ random: inout SimulatorRandom
    ) -> Instruction {
        let id = ObjectId.generate(secondsSince1970: 0, &random)
        return .create(
            ObjectReference(classIndex: S.link, key: .objectId(id)),
            [
                FieldWrite(column: ElementColumn.owner, value: owner.key),
                FieldWrite(column: ElementColumn.rank, value: .string("r\(random.below(10))")),
                FieldWrite(column: ElementColumn.target, value: target.key),
            ])
    }

    private static func create(
        _ reference: ObjectReference, _ keys: [ObjectReference], _ random: inout SimulatorRandom
    ) -> Instruction {
        var fields = [FieldWrite(column: S.Item.title, value: title(&random))]
        fields.append(
            random.chance(percent: 40)
                ? FieldWrite(column: S.Item.group, value: .int(0), isDefault: true)
                : FieldWrite(column: S.Item.group, value: .int(Int64(random.below(4)))))
        if random.chance(percent: 60) { fields.append(FieldWrite(column: S.Item.note, value: note(&random))) }
        if random.chance(percent: 40) {
            fields.append(FieldWrite(column: S.Item.count, value: .int(Int64(random.below(20)))))
        }
        if random.chance(percent: 40), !keys.isEmpty {
            fields.append(FieldWrite(column: S.Item.parent, value: random.pick(keys).key))
        }
        return .create(reference, fields)
    }

    private static func fields(
        _ reference: ObjectReference, _ keys: [ObjectReference], _ random: inout SimulatorRandom
    ) -> [FieldWrite] {
        var fields: [FieldWrite] = []
        if random.chance(percent: 35) { fields.append(FieldWrite(column: S.Item.note, value: note(&random))) }
        if random.chance(percent: 35) {
            fields.append(FieldWrite(column: S.Item.group, value: .int(Int64(random.below(4)))))
        }
        if random.chance(percent: 20) { fields.append(FieldWrite(column: S.Item.title, value: title(&random))) }
        if random.chance(percent: 20) {
            let parent = random.chance(percent: 30) ? .null : random.pick(keys).key
            fields.append(FieldWrite(column: S.Item.parent, value: parent))
        }
        if fields.isEmpty || random.chance(percent: 20) {
            fields.append(FieldWrite(column: S.Item.count, value: .int(Int64(random.below(50)))))
        }
        return fields
    }

    /// A plain-SQL transaction.
    static func statements(_ random: inout SimulatorRandom) -> [SQLProcedure.Statement] {
        var result: [SQLProcedure.Statement] = []
        for _ in 0...random.below(3) {
            let reference = S.item(random.below(itemCount))
            switch random.below(10) {
            case 0..<5:
                let from = random.below(vaultCount)
                let to = (from + 1 + random.below(vaultCount - 1)) % vaultCount
                result.append(
                    .transfer(from: S.vault(from), to: S.vault(to), amount: Int64(1 + random.below(10))))
            case 5: result.append(.erase(reference))
            case 6:
                result.append(
                    .insert(
                        reference,
                        Row([
                            reference.key, title(&random), .int(Int64(random.below(4))), note(&random), .int(0), .null,
                        ])))
            default:
                let values: [Int: Value] =
                    switch random.below(4) {
                    case 0: [S.Item.note: note(&random)]
                    case 1: [S.Item.group: .int(Int64(random.below(4)))]
                    case 2: [S.Item.count: .int(Int64(random.below(50)))]
                    default: [S.Item.title: title(&random), S.Item.note: note(&random)]
                    }
                result.append(.update(reference, values))
            }
        }
        return result
    }

    static func subscriptions(version: Int64, _ random: inout SimulatorRandom) -> SubscriptionSet {
        var result = [Subscription(name: "vaults", className: "Vault", predicate: .constant(true))]
        let group = PropertyPath("group")
        switch random.below(7) {
        case 0..<3: result.append(Subscription(name: "all", className: "Item", predicate: .constant(true)))
        case 3:
            result.append(
                Subscription(
                    name: "group", className: "Item",
                    predicate: .compare(group, .equal, .int(Int64(random.below(4))))))
        case 4:
            result.append(
                Subscription(name: "low", className: "Item", predicate: .compare(group, .less, .int(2))))
            result.append(
                Subscription(
                    name: "counted", className: "Item",
                    predicate: .compare(PropertyPath("count"), .greater, .int(Int64(random.below(20))))))
        case 5:
            result.append(
                Subscription(
                    name: "noted", className: "Item", predicate: .compare(PropertyPath("note"), .notEqual, .null)))
        default: break
        }
        return SubscriptionSet(version: version, subscriptions: result)
    }
}
