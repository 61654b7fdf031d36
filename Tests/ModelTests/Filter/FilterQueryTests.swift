import Foundation
import Testing
import TomboloModel

@Suite("where {} and string predicates build the same conditions")
struct FilterQueryTests {
    private func check(
        _ query: (Query<Owner>) -> Query<Bool>, _ format: String, _ arguments: [Any?] = [], printed: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let schema = try Schema.owners
        let filter = Query<Owner>.filter(query)
        do {
            let parsed = try Filter(parsing: format, arguments: arguments, for: "Owner", in: schema)
            #expect(filter == parsed, "\(format)", sourceLocation: location)
            try filter.check(for: "Owner", in: schema)
        } catch {
            Issue.record("\(format): \(error)", sourceLocation: location)
        }
        if let printed {
            #expect(
                query(Query<Owner>(node: .path(QueryPath())))._constructPredicate().0 == printed,
                sourceLocation: location)
        }
    }

    @Test("Comparisons with values and with properties")
    func comparisons() throws {
        try check({ $0.age == 5 }, "age == 5", printed: "(age == %@)")
        try check({ $0.age != 5 }, "age != 5", printed: "(age != %@)")
        try check({ $0.age < 5 }, "age < 5", printed: "(age < %@)")
        try check({ $0.age <= 5 }, "age <= 5", printed: "(age <= %@)")
        try check({ $0.age > 5 }, "age > 5", printed: "(age > %@)")
        try check({ $0.age >= 5 }, "age >= 5", printed: "(age >= %@)")
        try check({ $0.limit > 5 }, "limit > 5")
        try check({ $0.limit == nil }, "limit == nil", printed: "(limit == %@)")
        try check({ $0.score != nil }, "score != nil")
        try check({ $0.ratio == 1.1 }, "ratio == 1.1")
        try check({ $0.age == $0.limit }, "age == limit", printed: "(age == limit)")
        try check({ $0.age > $0.age }, "age > age")
        try check({ $0.name != $0.nick }, "name != nick")
        try check({ $0.score >= $0.weight.persistableValue }, "score >= weight")
        try check({ $0.age.in([1, 2]) }, "age IN {1, 2}", printed: "(age IN {%@, %@})")
        try check({ $0.nick.in(["a", nil]) }, "nick IN {'a', nil}")
        try check({ $0.age.contains(5...7) }, "age BETWEEN {5, 7}", printed: "(age BETWEEN {%@, %@})")
        try check({ $0.age.contains(5..<7) }, "age >= 5 AND age < 7", printed: "((age >= %@) && (age < %@))")
        try check({ $0.limit.contains(5...7) }, "limit BETWEEN {5, 7}")
        try check({ $0.score.contains(0.5..<7) }, "score >= 0.5 AND score < 7")
        try check({ $0.name.contains("a"..."c") }, "name BETWEEN {'a', 'c'}")
        let date = Date(timeIntervalSince1970: 1)
        try check({ $0.born.contains(date...date) }, "born BETWEEN {%@, %@}", [date, date])
    }

    @Test("Booleans, enumerations and projections")
    func scalars() throws {
        try check({ $0.isActive }, "isActive == true")
        try check({ !$0.isActive }, "NOT isActive == true")
        try check({ $0.isActive && $0.age > 1 || $0.age < 0 }, "isActive == YES AND age > 1 OR age < 0")
        try check({ $0.size == .large }, "size == 3")
        try check({ $0.size.rawValue > 1 }, "size > 1")
        try check({ $0.otherSize == .small }, "otherSize == 1")
        try check({ $0.otherSize.rawValue > 1 }, "otherSize > 1")
        try check({ $0.size.in([.small]) }, "size IN {1}")
        try check({ $0.weight == Weight(kilograms: 70) }, "weight == 70")
        try check({ $0.weight.persistableValue > 70 }, "weight > 70")
        try check({ $0.spot.persistableValue.x > 1 }, "spot.x > 1")
        try check(
            { $0.spot == Spot(x: 1, y: 2) }, "spot != nil AND spot.x == 1 AND spot.y == 2")
        try check(
            { $0.spot != Spot(x: 1, y: 2) }, "NOT (spot != nil AND spot.x == 1 AND spot.y == 2)")
    }

    @Test("Text")
    func text() throws {
        try check({ $0.name.contains("x") }, "name CONTAINS 'x'", printed: "(name CONTAINS %@)")
        try check(
            { $0.name.contains("x", options: [.caseInsensitive, .diacriticInsensitive]) }, "name CONTAINS[cd] 'x'",
            printed: "(name CONTAINS[cd] %@)")
        try check(
            { $0.nick.starts(with: "x", options: .caseInsensitive) }, "nick BEGINSWITH[c] 'x'",
            printed: "(nick BEGINSWITH[c] %@)")
        try check(
            { $0.name.ends(with: "x", options: [.diacriticInsensitive]) }, "name ENDSWITH[d] 'x'",
            printed: "(name ENDSWITH[d] %@)")
        try check({ $0.name.like("x*") }, "name LIKE 'x*'", printed: "(name LIKE %@)")
        try check({ $0.name.like("x?", caseInsensitive: true) }, "name LIKE[c] 'x?'", printed: "(name LIKE[c] %@)")
        try check({ $0.name.equals("x", options: .caseInsensitive) }, "name ==[c] 'x'", printed: "(name ==[c] %@)")
        try check({ $0.nick.notEquals("x", options: [.caseInsensitive]) }, "nick !=[c] 'x'", printed: "(nick !=[c] %@)")
        try check({ $0.nick.equals(nil) }, "nick == nil")
        try check({ $0.name.contains($0.nick) }, "name CONTAINS nick", printed: "(name CONTAINS nick)")
        try check({ $0.name.equals($0.nick, options: .caseInsensitive) }, "name ==[c] nick")
        try check({ $0.name.starts(with: $0.home.street) }, "name BEGINSWITH home.street")
    }

    @Test("Links and embedded objects")
    func links() throws {
        try check({ $0.best.name == "x" }, "best.name == 'x'", printed: "(best.name == %@)")
        try check({ $0.best.friend.age > 1 }, "best.friend.age > 1")
        try check({ $0.best == nil }, "best == nil")
        try check({ $0.home == nil }, "home == nil")
        try check({ $0.home.city == "Ulm" }, "home.city == 'Ulm'")
        try check({ $0.home.spot.x > 1 }, "home.spot.x > 1")
        try check({ $0.home.guest.home.street == "x" }, "home.guest.home.street == 'x'")
        try check({ $0.home.guest.dogs.age > 1 }, "ANY home.guest.dogs.age > 1")
        let dog = Dog()
        dog._id = 4
        try check({ $0.best == dog }, "best == %@", [dog])
        try check({ $0.best.in([dog]) }, "best IN %@", [[dog]])
    }

    @Test("Lists")
    func lists() throws {
        let dog = Dog()
        dog._id = 4
        try check({ $0.dogs.age > 3 }, "ANY dogs.age > 3", printed: "(ANY dogs.age > %@)")
        try check({ $0.dogs.puppies.age > 3 }, "ANY dogs.puppies.age > 3")
        try check({ $0.dogs.friend.name.contains("x") }, "ANY dogs.friend.name CONTAINS 'x'")
        try check({ $0.dogs.isGood }, "ANY dogs.isGood == true")
        try check({ $0.dogs.contains(dog) }, "%@ IN dogs", [dog])
        try check({ !$0.dogs.contains(dog) }, "NOT %@ IN dogs", [dog])
        try check({ $0.dogs.containsAny(in: [dog]) }, "ANY dogs IN %@", [[dog]])
        try check({ $0.dogs.age.in([1, 2]) }, "ANY dogs.age IN {1, 2}")
        try check({ $0.dogs.age.contains(1...2) }, "ANY dogs.age BETWEEN {1, 2}")
        try check({ $0.dogs.age > $0.age }, "ANY dogs.age > age", printed: "(ANY dogs.age > age)")
        try check({ $0.age > $0.dogs.age }, "ANY dogs.age < age")
        try check({ $0.scores == 3 }, "ANY scores == 3", printed: "(ANY scores == %@)")
        try check({ $0.scores > 3 }, "ANY scores > 3")
        try check({ $0.scores.contains(3) }, "3 IN scores")
        try check({ $0.scores.containsAny(in: [3, 4]) }, "ANY scores IN {3, 4}")
        try check(
            { $0.scores.contains(1...3) }, "scores.@min >= 1 AND scores.@max <= 3",
            printed: "((scores.@min >= %@) && (scores.@max <= %@))")
        try check({ $0.scores.contains(1..<3) }, "scores.@min >= 1 AND scores.@max < 3")
        try check({ $0.tags.contains(nil) }, "ANY tags == nil")
        try check({ $0.tags.starts(with: "x", options: .caseInsensitive) }, "ANY tags BEGINSWITH[c] 'x'")
        try check({ $0.visits.cost > 3 }, "ANY visits.cost > 3")
        try check({ $0.visits.dog.age > 3 }, "ANY visits.dog.age > 3")
        try check({ $0.visits.stops.minutes > 3 }, "ANY visits.stops.minutes > 3")
        try check({ $0.dogs.owners.name == "x" }, "ANY dogs.owners.name == 'x'")
        try check({ $0.best.admirers.count > 1 }, "best.admirers.@count > 1")
    }

    @Test("Counts, aggregates and subqueries")
    func aggregates() throws {
        try check({ $0.dogs.count > 2 }, "dogs.@count > 2", printed: "(dogs.@count > %@)")
        try check({ $0.scores.count == $0.age }, "scores.@count == age")
        try check({ $0.scores.max > 3 }, "scores.@max > 3", printed: "(scores.@max > %@)")
        try check({ $0.scores.min > 3 }, "scores.@min > 3")
        try check({ $0.scores.sum > 3 }, "scores.@sum > 3")
        try check({ $0.scores.avg > 3.5 }, "scores.@avg > 3.5")
        try check({ $0.dogs.age.max > 3 }, "dogs.@max.age > 3", printed: "(dogs.@max.age > %@)")
        try check({ $0.dogs.weight.avg > 3 }, "dogs.@avg.weight > 3")
        try check({ $0.dogs.age.sum.contains(1...3) }, "dogs.@sum.age BETWEEN {1, 3}")
        try check({ $0.prices.sum > 3 }, "prices.@sum > 3")
        try check({ $0.prices.avg > 3.5 }, "prices.@avg > 3.5")
        try check({ $0.price.contains(1...2.5) }, "price BETWEEN {1, 2.5}")
        try check({ $0.dogs.age.min == $0.age }, "dogs.@min.age == age")
        try check(
            { ($0.dogs.age > 2 && $0.dogs.name == "x").count > 1 },
            "SUBQUERY(dogs, $d, $d.age > 2 && $d.name == 'x').@count > 1",
            printed: "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count > %@)")
        try check(
            { (!($0.dogs.age > 2) || $0.dogs.isGood).count == 0 },
            "SUBQUERY(dogs, $d, NOT $d.age > 2 || $d.isGood == true).@count == 0")
        try check({ ($0.scores > 2).count == 1 }, "SUBQUERY(scores, $s, $s > 2).@count == 1")
    }

    @Test("A meaningless query stops the program and says why")
    func programErrors() async {
        await #expect(processExitsWith: .failure) { _ = Query<Owner>.filter { ($0.age > 1).count > 0 } }
        await #expect(processExitsWith: .failure) {
            _ = Query<Owner>.filter { $0.dogs.age > $0.scores.max && $0.dogs.age == $0.dogs.age }
        }
        await #expect(processExitsWith: .failure) { _ = Query<Owner>.filter { $0.age.max > 1 } }
        await #expect(processExitsWith: .failure) { _ = Query<Owner>.predicate { $0.dogs.age > 1 } }
    }
}
