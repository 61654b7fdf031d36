import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: queries on enums, projections and data")
struct StoredTypeQueryTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: [Consignment.self]))
        try realm.write {
            let one = Consignment()
            one._id = 1
            one.weight = Grams(500)
            one.tare = Grams(20)
            one.weights.append(objectsIn: [Grams(200), Grams(300)])
            one.tares.append(objectsIn: [Grams(5), nil, Grams(15)])
            one.code = Code("ÄB-7")
            one.codes.append(objectsIn: [Code("x"), Code("y")])
            one.rank = .high
            one.ranks.append(objectsIn: [.low, .high])
            one.spareRanks.append(objectsIn: [nil, .high])
            one.label = Data([1, 2, 3, 4])
            one.seal = Data([2, 3])
            one.note = "ÄB-*"
            one.numbers.append(objectsIn: [1, 2])
            one.prices.append(objectsIn: [1.5, 2.5])
            let two = Consignment()
            two._id = 2
            two.parts.append(one)
            realm.add([one, two])
        }
    }

    private func ids(_ query: (Query<Consignment>) -> Query<Bool>) -> [Int] {
        realm.objects(Consignment.self).where(query).map(\._id)
    }

    @Test("Projections compare by their stored value, in ranges and lists too")
    func projections() {
        #expect(ids { $0.weight > Grams(100) } == [1] && ids { $0.weight.contains(Grams(1)...Grams(500)) } == [1])
        #expect(
            ids { $0.tare.persistableValue.contains(20..<21) } == [1] && ids { $0.tare.persistableValue == nil } == [2])
        #expect(ids { $0.weights.min == Grams(200) } == [1] && ids { $0.weights.persistableValue.max == 300 } == [1])
        #expect(ids { $0.weights.sum == Grams(500) } == [1] && ids { $0.weights.avg < Grams(251) } == [1])
        #expect(ids { $0.weights.contains(Grams(200)...Grams(300)) } == [1])
        #expect(
            ids { $0.tares.contains(Grams(5)..<Grams(15)) } == []
                && ids { $0.tares.contains(Grams(5)...Grams(15)) } == [1])
        #expect(ids { $0.tares.contains(nil) } == [1] && ids { $0.parts.weight.max == Grams(500) } == [2])
    }

    @Test("Enums in lists compare by raw value")
    func enumerations() {
        #expect(ids { $0.ranks.rawValue.max > 9 } == [1] && ids { $0.ranks.rawValue.contains(1...10) } == [1])
        #expect(ids { $0.spareRanks.rawValue.min == 10 } == [1] && ids { $0.spareRanks.max == .high } == [1])
        #expect(ids { $0.rank > .low } == [1] && ids { $0.parts.rank.rawValue.sum == 10 } == [2])
    }

    @Test("An average compares with a number of the property's type or a fraction")
    func averages() {
        let limit = 1
        #expect(ids { $0.numbers.avg > limit } == [1] && ids { $0.numbers.avg > 1.25 } == [1])
        #expect(ids { $0.numbers.avg > 1.75 }.isEmpty && ids { $0.prices.avg == 2 } == [1])
        #expect(ids { $0.prices.avg > Float(1) && $0.prices.avg < 2.25 } == [1])
    }

    @Test("Strings of a custom type can be searched, and patterns may come from another property")
    func text() {
        #expect(ids { $0.code.starts(with: Code("äb"), options: .caseInsensitive) } == [1])
        #expect(ids { $0.code.ends(with: Code("7")) && $0.code.contains(Code("B")) } == [1])
        #expect(ids { $0.code.equals(Code("ab-7"), options: [.caseInsensitive, .diacriticInsensitive]) } == [1])
        #expect(ids { $0.code.like(Code("?B*")) } == [1] && ids { $0.code.like($0.note) } == [1])
        #expect(
            ids { $0.codes.like(Code("X"), caseInsensitive: true) } == [1]
                && ids { $0.codes.contains(Code("z")) }.isEmpty)
    }

    @Test("Data can be searched for a subsequence, including another property's value")
    func data() {
        #expect(
            ids { $0.label.starts(with: Data([1, 2])) } == [1] && ids { $0.label.ends(with: Data([1, 2])) }.isEmpty)
        #expect(
            ids { $0.label.contains(Data([2, 3])) } == [1]
                && ids { $0.label.contains($0.seal) && $0.seal != nil } == [1])
        #expect(ids { $0.seal.equals(Data([2, 3])) } == [1] && ids { $0.seal.notEquals(Data([2, 3])) } == [2])
        #expect(ids { $0.seal.equals(nil) } == [2])
    }

    @Test("Collections of projections and enums can be sorted, made distinct and aggregated")
    func collections() throws {
        let one = try #require(realm.object(ofType: Consignment.self, forPrimaryKey: 1))
        #expect(
            one.weights.min() == Grams(200) && one.weights.sum() == Grams(500) && one.weights.average() == Grams(250))
        #expect(one.tares.max() == Grams(15) && one.ranks.max() == .high && one.ranks.average() == 5.5)
        #expect(Array(one.weights.sorted(ascending: false)) == [Grams(300), Grams(200)])
        #expect(Array(one.ranks.distinct()) == [.low, .high] && Array(one.spareRanks.sorted()) == [nil, .high])
        let all = realm.objects(Consignment.self)
        #expect(
            all.max(of: \.weight) == Grams(500) && all.min(of: \.tare) == Grams(20)
                && all.sum(of: \.weight) == Grams(500))
        #expect(all.max(ofProperty: "weight") == Grams(500) && all.average(of: \.weight) == 250.0)
    }

    @Test("A subquery sees its elements' lists and the outer object")
    func subqueries() throws {
        #expect(ids { ($0.parts.numbers.count == 2).count == 1 } == [2])
        #expect(ids { ($0.parts.weight > Grams(1) && $0.parts.codes == Code("x")).count == 1 } == [2])
        #expect(ids { ($0.parts.weight > $0.weight && $0._id == 2).count == 1 } == [2])
        #expect(ids { ($0.parts.weight > Grams(1) && ($0.parts._id == 1).count == 1).count == 1 } == [2])
        #expect(
            ids { ($0.parts.weight > Grams(1) && $0.parts.numbers.max == 2 && $0.numbers.count == 0).count == 1 } == [2]
        )
    }
}
