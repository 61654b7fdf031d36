import Foundation
import Tombolo
import TomboloModel

/// People as an app stores them: objects of a ``Realm``. Not thread-safe.
final class TomboloPeople: PeopleStore {
    let realm: Realm

    init(path: String) throws { realm = try Realm(configuration: Self.configuration(path)) }

    /// - Parameter user: the user for whom the file is synced.
    init(path: String, user: User) throws {
        var configuration = user.flexibleSyncConfiguration()
        configuration.fileURL = URL(filePath: path)
        configuration.objectTypes = [StorePerson.self]
        realm = try Realm(configuration: configuration)
    }

    static func configuration(_ path: String) -> Realm.Configuration {
        Realm.Configuration(fileURL: URL(filePath: path), objectTypes: [StorePerson.self])
    }

    static func object(_ values: PersonValues) -> StorePerson {
        let person = StorePerson()
        person._id = values.key
        person.name = values.name
        person.age = values.age
        person.score = values.score
        person.isActive = values.isActive
        person.createdAt = values.createdAt
        return person
    }

    func insert(_ people: [PersonValues]) throws {
        try realm.write {
            for values in people { realm.add(Self.object(values)) }
        }
    }

    func insertOneByOne(_ people: [PersonValues]) throws {
        for values in people {
            try realm.write { realm.add(Self.object(values)) }
        }
    }

    func rowCount() -> Int { realm.objects(StorePerson.self).count }

    func count(olderThan age: Int) -> Int { realm.objects(StorePerson.self).where { $0.age > age }.count }

    func readAll() -> Int {
        var sum = 0
        for person in realm.objects(StorePerson.self) { sum += person.age + person.name.utf8.count }
        return sum
    }

    func lookUp(_ keys: [Int]) -> Int {
        var sum = 0
        for key in keys { sum += realm.object(ofType: StorePerson.self, forPrimaryKey: key)?.age ?? 0 }
        return sum
    }

    func raiseScores() throws {
        try realm.write {
            for person in realm.objects(StorePerson.self) { person.score += 1 }
        }
    }

    func delete(ages: Range<Int>) throws {
        let (first, end) = (ages.lowerBound, ages.upperBound)
        try realm.write {
            realm.delete(realm.objects(StorePerson.self).where { $0.age >= first && $0.age < end })
        }
    }

    func firstByScore(_ count: Int) -> Int {
        let people = realm.objects(StorePerson.self).sorted(byKeyPath: "score")
        var check = 0
        for position in 0..<min(count, people.count) {
            check += people[position].name.utf8.count + Int(people[position].score * 1_000)
        }
        return check
    }
}
