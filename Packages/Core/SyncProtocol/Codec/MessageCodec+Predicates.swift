internal import TomboloModel

extension MessageCodec {
    func wire(_ predicate: Predicate) -> WirePredicate {
        var result = WirePredicate()
        switch predicate {
        case .constant(let value): result.constant = value
        case .compare(let path, let comparison, let literal):
            result.compare.path = path.names
            result.compare.operator = wire(comparison)
            result.compare.literal = wire(literal)
        case .isIn(let path, let literals):
            result.isIn.path = path.names
            result.isIn.literals = literals.map(wire)
        case .text(let path, let test, let text, let ignoringCase):
            result.text.path = path.names
            result.text.operator = wire(test)
            result.text.text = text
            result.text.ignoringCase = ignoringCase
        case .and(let parts): result.and = list(parts)
        case .or(let parts): result.or = list(parts)
        case .not(let inner): result.not = wire(inner)
        }
        return result
    }

    private func list(_ parts: [Predicate]) -> WirePredicateList {
        var list = WirePredicateList()
        list.parts = parts.map(wire)
        return list
    }

    func decode(_ predicate: WirePredicate, depth: Int, parts: inout Int) throws(ProtocolError) -> Predicate {
        parts += 1
        guard depth <= Predicate.maximumDepth, parts <= Predicate.maximumPartCount else {
            throw ProtocolError(
                .tooLarge,
                "a query with more than \(Predicate.maximumPartCount) parts or \(Predicate.maximumDepth) levels")
        }
        switch predicate.kind {
        case nil: throw ProtocolError(.malformed, "a condition of unknown kind")
        case .constant(let value): return .constant(value)
        case .compare(let compare):
            let path = try path(compare.path)
            do throws(ProtocolError) {
                return .compare(path, try comparison(compare.operator), try decode(compare.literal))
            } catch {
                throw error.at("condition on \(path.description.shortened)")
            }
        case .isIn(let membership):
            parts += membership.literals.count
            guard parts <= Predicate.maximumPartCount else {
                throw ProtocolError(.tooLarge, "a query with more than \(Predicate.maximumPartCount) parts")
            }
            let path = try path(membership.path)
            do throws(ProtocolError) {
                return .isIn(path, try membership.literals.map { value throws(ProtocolError) in try decode(value) })
            } catch {
                throw error.at("condition on \(path.description.shortened)")
            }
        case .text(let text):
            return .text(
                try path(text.path), try test(text.operator), text.text, ignoringCase: text.ignoringCase)
        case .and(let list): return .and(try decode(list, depth: depth, parts: &parts))
        case .or(let list): return .or(try decode(list, depth: depth, parts: &parts))
        case .not(let inner): return .not(try decode(inner, depth: depth + 1, parts: &parts))
        }
    }

    private func decode(
        _ list: WirePredicateList, depth: Int, parts: inout Int
    ) throws(ProtocolError) -> [Predicate] {
        var result: [Predicate] = []
        for part in list.parts { result.append(try decode(part, depth: depth + 1, parts: &parts)) }
        return result
    }

    private func path(_ names: [String]) throws(ProtocolError) -> PropertyPath {
        guard (1...Self.maximumPathLength).contains(names.count) else {
            throw ProtocolError(
                .malformed, "a property path of \(names.count) names; it must have 1 to \(Self.maximumPathLength)")
        }
        return PropertyPath(names)
    }

    private func wire(_ comparison: Predicate.Comparison) -> WireComparisonOperator {
        switch comparison {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }

    private func comparison(_ wire: WireComparisonOperator) throws(ProtocolError) -> Predicate.Comparison {
        switch wire {
        case .equal: return .equal
        case .notEqual: return .notEqual
        case .less: return .less
        case .lessOrEqual: return .lessOrEqual
        case .greater: return .greater
        case .greaterOrEqual: return .greaterOrEqual
        case .unspecified, .UNRECOGNIZED:
            throw ProtocolError(.malformed, "comparison operator \(wire.rawValue), which does not exist")
        }
    }

    private func wire(_ test: Predicate.TextTest) -> WireTextOperator {
        switch test {
        case .contains: .contains
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        }
    }

    private func test(_ wire: WireTextOperator) throws(ProtocolError) -> Predicate.TextTest {
        switch wire {
        case .contains: return .contains
        case .beginsWith: return .beginsWith
        case .endsWith: return .endsWith
        case .unspecified, .UNRECOGNIZED:
            throw ProtocolError(.malformed, "text operator \(wire.rawValue), which does not exist")
        }
    }
}

extension MessageCodec {
    func wire(_ set: SubscriptionSet) -> WireSubscriptionSet {
        var result = WireSubscriptionSet()
        result.version = set.version
        result.subscriptions = set.subscriptions.map { subscription in
            var item = WireSubscription()
            if let name = subscription.name { item.name = name }
            item.className = subscription.className
            item.predicate = wire(subscription.predicate)
            return item
        }
        return result
    }

    func decode(_ set: WireSubscriptionSet) throws(ProtocolError) -> SubscriptionSet {
        guard set.version >= 0 else { throw ProtocolError(.malformed, "subscriptions: version \(set.version)") }
        var result = SubscriptionSet(version: set.version, subscriptions: [])
        for (index, item) in set.subscriptions.enumerated() {
            do throws(ProtocolError) {
                var parts = 0
                result.subscriptions.append(
                    Subscription(
                        name: item.hasName ? item.name : nil, className: item.className,
                        predicate: try decode(item.predicate, depth: 0, parts: &parts)))
            } catch {
                let name = item.hasName ? "'\(item.name.shortened)'" : "\(index)"
                throw error.at("subscription \(name) on \(item.className.shortened)")
            }
        }
        return result
    }
}
