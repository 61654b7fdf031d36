import Foundation
import RealmSwift
import Testing

@testable import SeedModels

/// The codemod's output stores, finds and reads objects as the original models did.
@Suite struct SeedModelTests {
    private func realm(_ types: [Object.Type]) throws -> Realm {
        try Realm(configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: types))
    }

    @Test func `SUSI's messages are stored with their actions, and found by them`() throws {
        let realm = try realm([Message.self])
        let asked = Date(timeIntervalSince1970: 1_500_000_000)
        let answered = asked.addingTimeInterval(1.5)
        let messages = Message.messages(
            of: [
                ["type": "answer", "expression": "Here is a map of Singapore"],
                ["type": "map", "latitude": "1.29", "longitude": "103.85", "zoom": "11"],
                [
                    "type": "anchor", "link": "https://www.openstreetmap.org/#map=11/1.29/103.85",
                    "text": "Map of Singapore",
                ],
                ["type": "answer"],
            ], asked: asked, answered: answered)
        try realm.write {
            for message in messages { realm.add(message) }
        }
        #expect(realm.objects(Message.self).count == 4)
        let map = try #require(realm.objects(Message.self).where { $0.actionType == "map" }.first)
        #expect(map.mapData?.latitude == 1.29)
        #expect(map.mapData?.longitude == 103.85)
        #expect(map.mapData?.zoom == 11)
        #expect(map.answerData == nil)
        #expect(map.queryDate == asked)
        #expect(map.answerDate == answered)
        #expect(!map.fromUser)
        let anchor = try #require(realm.objects(Message.self).where { $0.anchorData.text == "Map of Singapore" }.first)
        #expect(anchor.message == "Map of Singapore")
        #expect(anchor.anchorData?.link == "https://www.openstreetmap.org/#map=11/1.29/103.85")
        let answers = realm.objects(Message.self).where { $0.actionType == ActionType.answer.rawValue }
        #expect(answers.map(\.message).sorted() == ["", "Here is a map of Singapore"])
        let expressions = answers.compactMap { $0.answerData?.expression }
        #expect(expressions.sorted() == ["", "Here is a map of Singapore"])
    }

    @Test func `Santa's weather is stored, with private columns behind its computed property`() throws {
        let realm = try realm([Weather.self])
        let weather = Weather(location: Location(latitude: 66.5, longitude: 25.7))
        try realm.write { realm.add(weather) }
        let kept = try #require(realm.objects(Weather.self).first)
        #expect(kept.loadingStatus == .uploading)
        #expect(kept.location?.latitude == 66.5)
        try realm.write { weather.report(temperature: -12.5, condition: .snow) }
        #expect(kept.loadingStatus == .complete(temperature: -12.5, condition: .snow))
    }

    @Test func `Students and class rooms are stored under their primary keys`() throws {
        let realm = try realm([StudentRepository.self, ClassRoomRepository.self])
        let student = StudentRepository()
        student.id = 1.description
        student.name = "Josh"
        let classRoom = ClassRoomRepository()
        classRoom.id = 1.description
        classRoom.name = "A room"
        classRoom.studentIds.append(student.id)
        try realm.write {
            realm.add(student, update: .all)
            realm.add(classRoom, update: .all)
        }
        let renamed = StudentRepository()
        renamed.id = student.id
        renamed.name = "Joshua"
        try realm.write { realm.add(renamed, update: .all) }
        #expect(realm.objects(StudentRepository.self).map(\.name) == ["Joshua"])
        #expect(realm.object(ofType: StudentRepository.self, forPrimaryKey: "1")?.name == "Joshua")
        let room = try #require(realm.object(ofType: ClassRoomRepository.self, forPrimaryKey: "1"))
        #expect(Array(room.studentIds) == ["1"])
    }

    @Test func `A chat user is stored together with preferences and conversations`() throws {
        let realm = try realm([ChatUser.self])
        let user = ChatUser()
        user.partition = "user=\(user._id)"
        user.userName = "jane@contoso.com"
        user.presenceState = .onLine
        let preferences = UserPreferences()
        preferences.displayName = "Jane"
        preferences.avatarImage = Photo()
        preferences.avatarImage?.thumbNail = Data([1, 2, 3])
        user.userPreferences = preferences
        let conversation = Conversation()
        conversation.displayName = "Sprints"
        let member = Member()
        member.userName = "jane@contoso.com"
        conversation.members.append(member)
        user.conversations.append(conversation)
        let key = user._id
        try realm.write { realm.add(user) }
        let kept = try #require(realm.object(ofType: ChatUser.self, forPrimaryKey: key))
        #expect(kept.presenceState == .onLine)
        #expect(kept.userPreferences?.displayName == "Jane")
        #expect(kept.userPreferences?.avatarImage?.thumbNail == Data([1, 2, 3]))
        #expect(kept.conversations.map(\.displayName) == ["Sprints"])
        #expect(kept.conversations.first?.members.map(\.membershipStatus) == ["User added, but invite pending"])
    }

    @Test func `Listings and drawings, written for property wrappers, are stored`() throws {
        let realm = try realm([Listing.self, Drawing.self])
        let listing = Listing()
        listing.location = "dallas"
        listing.price = 250_000
        listing.bedrooms = 3
        let drawing = Drawing()
        let line = Line()
        line.linePoints.append(objectsIn: [0.5, 1.5])
        drawing.lines.append(line)
        try realm.write {
            realm.add(listing)
            realm.add(drawing)
        }
        let found = realm.objects(Listing.self).where {
            $0.location == "dallas" && $0.price < 300_000 && $0.bedrooms >= 3
        }
        #expect(found.map(\._id) == [listing._id])
        #expect(realm.objects(Drawing.self).first?.lines.first?.lineWidth == 5)
        #expect(realm.objects(Drawing.self).first.map { Array($0.lines[0].linePoints) } == [0.5, 1.5])
    }

    @Test func `Optionals, enumerations, lists, back links and inherited properties are stored`() throws {
        let realm = try realm([Dog.self, Owner.self])
        let dog = Dog()
        dog.id = 7
        dog.name = "Rex"
        dog.kind = .mammal
        dog.breed = .poodle
        dog.nickname = "R"
        dog.grow(by: 20)
        dog.birthday()
        dog.tags.append("good")
        dog.photo = Data([9])
        let owner = Owner()
        owner.name = "Ada"
        owner.dogs.append(dog)
        try realm.write { realm.add(owner) }
        let kept = try #require(realm.object(ofType: Dog.self, forPrimaryKey: 7))
        #expect(kept.name == "Rex")
        #expect(kept.kind == .mammal)
        #expect(kept.breed == .poodle)
        #expect(kept.age == 1)
        #expect(kept.score == 2.5)
        #expect(kept.weight == 21.5)
        #expect(kept.isHeavy)
        #expect(kept.photo == Data([9]))
        #expect(Array(kept.tags) == ["good"])
        #expect(kept.owners.map(\.name) == ["Ada"])
        #expect(realm.objects(Owner.self).first?.ages == "Rex: 1")
        #expect(realm.objects(Dog.self).where { $0.age == 1 }.count == 1)
    }

    @Test func `Ignored properties have no column`() throws {
        let dog = try #require(try Schema.of([Dog.self]).classes.first { $0.name == "Dog" })
        let names = dog.columns.map(\.name)
        #expect(!names.contains("nickname"))
        #expect(names.starts(with: ["id", "name"]), "\(names)")
        #expect(names.contains("breed"))
    }
}
