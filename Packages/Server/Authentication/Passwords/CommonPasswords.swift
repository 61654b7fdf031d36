/// Passwords that very many people use, in lower case without punctuation, and words to which very many people add
/// digits. For all passwords known from leaks there is ``BreachedPasswords``, whose list operators have to download.
enum CommonPasswords {
    static let all = Set(text.split(whereSeparator: \.isWhitespace).map(String.init))

    private static let text = """
        password password1 password12 password123 password1234 passwort passwort1 passwd passw0rd pass passpass passphrase
        passcode motdepasse contrasena contraseña senha senha123 parola haslo haslo123 wachtwoord lozinka salasana kennwort
        losenord lösenord adgangskode hasło пароль йцукен mypassword newpassword yourpassword thepassword password1password
        changeme changeit changethis changenow letmein letmeinnow trustno1 opensesame secret topsecret mysecret secure
        security secured nopassword nopass default guest guestguest login loginlogin mylogin access accessdenied
        admin admin123 admin1234 adminadmin administrator administrador administrateur root rootroot toor superuser
        superadmin sysadmin webadmin webmaster postmaster hostmaster manager supervisor operator system server service
        support helpdesk office company business office365 internet network computer laptop notebook desktop
        tombolo conference organizer attendee speaker test test123 test1234 testtest tester testing testuser demo demodemo
        user useruser username example sample temp temporary temppass welcome welcome1 welcome123 willkommen bienvenue
        bienvenido benvenuto hello hellohello helloworld hellokitty hallo hallohallo bonjour salut goodmorning goodbye
        12345678 123456789 1234567890 12345678910 0123456789 123123123 123321123 123456123 1234512345 12341234 123123
        123456 1234567 12345 1234 111111 11111111 111111111 1111111111 112233 11223344 1122334455 121212 12121212 123321
        12344321 1234554321 1234abcd 123456a 123456aa 123456abc 123abc123 123qwe 123qweasd 123qwe123 159357 159753
        147258369 147852369 147258 159159159 258456 321321321 654321 666666 66666666 696969 69696969 741852963 77777777
        789456123 789789789 7777777 87654321 88888888 987654321 9876543210 963852741 99999999 987654 10203040 102030
        1020304050 13131313 131313 14141414 19841984 20002000 20202020 22222222 222222 23232323 31415926 314159265 33333333
        42424242 44444444 555555 55555555 5201314 00000000 000000 0000000000 01010101 01234567 07070707 1qaz2wsx 1qaz2wsx3edc
        1qazxsw2 zaq12wsx zaq1xsw2 zaq1zaq1 qazwsx qazwsxedc qazwsx123 qazxsw qazxswedc 1q2w3e 1q2w3e4r 1q2w3e4r5t
        1q2w3e4r5t6y 1q2w3e4r5t6z q1w2e3 q1w2e3r4 q1w2e3r4t5 q1w2e3r4t5y6 1a2b3c4d a1b2c3d4 a1b2c3 aa123456 aaa111 a123456
        a1234567 a12345678 a123456789 aa12345678 abc123 abc12345 abc123456 abcd1234 abcd12345 abcde12345 abcdef123 abc123abc
        abcabcabc abcdefgh abcdefghi abcd abcdef qwerty qwerty1 qwerty12 qwerty123 qwerty1234 qwerty12345 qwertyuiop
        qwertyui qwertyuio qwertyqwerty qwertz qwertz123 qwertzuiop qwertzui qweqweqwe qweasdzxc qweasd qwe123qwe qwer1234
        qwert12345 qwert123 qwer qwert asdf asdf1234 asdfasdf asdfgh asdfghjk asdfghjkl asdfghjklö asd123456 asdasdasd asdzxc
        zxcvbnm zxcvbn zxcvbnm123 zxcv1234 zxcvzxcv azerty azertyui azertyuiop azerty123 qsdfghjklm yxcvbnm poiuytrewq
        mnbvcxz lkjhgfdsa ytrewq trewq poiuyt q1q1q1q1 qqqqqqqq qqww1122 aaaaaaaa aaaaaa aaaaaaaaaa xxxxxxxx xxxxxx zzzzzzzz
        iloveyou iloveyou1 iloveyou2 iloveyou12 iloveyou123 iloveu iloveme ilovegod ilovejesus ilovemom ilovehim iloveher
        ilovelove iloveit loveyou loveyou1 lovelove loveme lovers lover lovely lovely1 lovelife truelove mylove mylove1
        myheart forever foreverlove always sweetheart sweetie sweety darling honey babygirl babyboy babyblue babycakes
        kisses kissme kissmyass teamo teamomucho tequiero jetaime jetaime1 ichliebedich schatz tiamo amoremio amor
        princess princess1 princesa prinzessin prince queen king angel angel1 angels angelito goddess beautiful beauty
        gorgeous pretty precious diamond crystal sunshine sunshine1 sunflower sonnenschein moonlight starlight starstar
        rainbow butterfly mariposa flower flowers blossom strawberry blueberry cherry chocolate cookie cookies cupcake
        sugar candy cheese banana bananas orange apple pepper peanut pumpkin pickle coffee whiskey budweiser heineken
        monkey monkey1 monkey123 dragon dragon1 dragon123 tiger tigers tiger1 tigger tigger1 lion panther eagle eagles
        falcon phoenix dolphin dolphins penguin chicken turkey turtle rabbit bunny kitten kitty kittycat puppy doggy
        dog doggie bulldog wolf wolves horse horses hamster hamster1 snoopy garfield scooby scoobydoo pokemon pokemon1
        pikachu naruto sasuke dragonball spongebob mickey mickeymouse minnie donald winnie simpsons simpson barbie tinkerbell
        superman batman batman1 spiderman ironman wolverine superstar superhero captain avengers starwars starwars1
        skywalker darthvader chewbacca startrek enterprise voyager matrix morpheus trinity hogwarts harrypotter gandalf
        frodo legolas terminator predator godzilla rambo rocky jamesbond bond007 agent007 casper merlin excalibur
        football football1 footbal fussball futbol soccer soccer1 baseball baseball1 basketball basket hockey hockey1
        tennis volleyball softball golf golfer swimming skating snowboard running runner gymnast wrestling cricket
        liverpool liverpool1 liverpoolfc arsenal arsenal1 chelsea chelsea1 manchester manutd manunited mancity everton
        barcelona fcbarcelona realmadrid juventus acmilan bayern bayernmunchen dortmund schalke04 schalke borussia benfica
        galatasaray fenerbahce besiktas boca steelers cowboys patriots packers raiders redsox yankees lakers celtics
        michael michael1 michelle jessica jessica1 jennifer ashley ashley1 amanda andrea andrew andrew1 anthony anthony1
        alexander alexandra alexis alejandro antonio barbara benjamin brandon brittany caroline catherine charlie charlie1
        charlotte christian christina christine christopher claudia daniel daniela danielle david dominic edward elizabeth
        emmanuel fernando florian francis francesco francisco franklin frederic gabriel gabriela george gregory hannah
        heather isabella isabelle jackson jasmine jasmine1 jeffrey jonathan jordan jordan23 joseph joshua joshua1 julian
        juliana justin katherine kathleen kimberly lauren leonardo louise madison marcus margaret maria marina mario martin
        martina matthew matthew1 maximilian melanie melissa mercedes miguel monica natalie natasha nathan nicholas nicole
        nicole1 oliver olivia pamela patricia patrick patrick1 peter philip rachel raphael rebecca richard robert roberto
        samantha samuel sandra sebastian sebastian1 sophie stefan stefanie stephanie stephen steven sabrina theresa
        thomas thomas1 tiffany valentina vanessa veronica victor victoria victoria1 vincent virginia william william1
        america american argentina australia brasil brazil california canada chicago colombia deutschland england espana
        france france98 germany germany1 greece hawaii houston india indonesia ireland italia italy jamaica london madrid
        malaysia mexico newyork newyork1 pakistan paris philippines polska portugal russia scotland singapore spain
        sweden switzerland texas turkiye istanbul vietnam berlin hamburg amsterdam barcelona1 samsung samsung1 nokia nokia123
        motorola iphone android google google123 facebook facebook1 twitter instagram youtube linkedin linkedin1 microsoft
        windows windows10 windows7 apple123 amazon paypal netflix spotify hotmail outlook gmail yahoo skype adobe123 adobe
        photoshop oracle cisco cisco123 linux ubuntu debian docker github postgres mysql database minecraft minecraft1
        fortnite roblox callofduty counterstrike halflife warcraft worldofwarcraft starcraft runescape nintendo playstation
        xbox360 mustang mustang1 corvette camaro ferrari porsche lamborghini mercedes1 toyota honda yamaha kawasaki suzuki
        harley harleydavidson chevrolet chevy subaru volkswagen audi bmw metallica nirvana nirvana1 slipknot slayer ironmaiden
        linkinpark greenday blink182 eminem beatles rockstar rocknroll rockandroll michaeljackson elvis onedirection
        justinbieber guitar drummer music musica magic metal master master1 masters mastermind killer killer1 hunter hunter1
        hunter2 ranger warrior warriors ninja samurai shadow shadow1 ghost phantom demon devil satan lucifer heaven hell
        vampire zombie thunder lightning storm hurricane tornado winter summer spring autumn winter1 summer1 sommer
        fruehling herbst frühling january february march april may june july august september october november december
        montag dienstag mittwoch donnerstag freitag samstag sonntag monday tuesday wednesday thursday friday saturday sunday
        biteme fuckyou fuckyou1 fuckyou2 fuckoff fuckme fuckit fuck asshole asshole1 bitch bullshit bollocks arschloch
        scheisse scheiße puta merde hentai pussy sexy sexygirl sexsex boobs money money1 moneymoney million millionaire
        dollar lottery lucky lucky7 lucky13 casino poker blessed blessing believe faith hope jesus jesus1 jesuschrist
        christ godisgood godislove god allah muhammad mohammed bismillah buddha freedom freedom1 liberty peace justice
        happy happy1 happiness smile smiley friends friend friendship bestfriend bestfriends family familia mother father
        mommy daddy mom dad brother sister baby grandma grandpa children school student student1 teacher college university
        whatever whatever1 nothing something anything everything anywhere nobody someone somebody number1 numberone
        starfish maverick goose iceman cocacola pepsi mcdonalds snickers nutella buster buster1 buddy buster123 bailey
        max maximus maxwell rusty ginger ginger1 daisy lucy molly bella bella1 sammy toby jake chester cooper zeus apollo
        athena hercules spartan spartan117 titan trojan pirate pirates sparky sparkle twilight midnight mystery blackcat
        blackjack silver golden goldfish purple yellow green blue black white red blue123 redred bluebird blue22
        correcthorsebatterystaple zzzzzz asdfjkl asdfjklö qwertyuiopü q123456 q12345678 w123456 s123456 z123456
        p4ssword p4ssw0rd pa55word pa55w0rd pass1234 pass123 pass12345 pass123456 passwordpassword 1password 123password
        user1234 user123 guest123 guest1234 root123 root1234 toor1234 demo1234 demo123 login123 master123 super123 superman1
        letmein1 letmein123 iamgod iamtheone imthebest thebest thebest1 youandme meandyou justdoit dontforget
        donotenter keepout stayaway ihateyou hateyou whocares dontknow idontknow forgotten forgot forgetit noidea
        """
}
